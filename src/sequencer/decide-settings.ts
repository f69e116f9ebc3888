import type { Conversation } from '../model/conversation.ts';
import { isDirect } from '../model/ids.ts';
import { checkChannelName } from '../model/names.ts';
import { type ActionOf, accept, type Decision, refuse, refuseOutsider, type Situation } from './decision.ts';
import type { Effect } from './effects.ts';

/** What a conversation is called, says of itself, and whether it is in use. */

const MAX_REMARK_LENGTH = 250;

type What = Extract<Effect, { type: 'changed' }>['what'];

function change({ head, actor, at }: Situation, what: What, fields: Partial<Conversation>): Decision {
	const previous = head.conversation;
	const conversation: Conversation = { ...previous, ...fields, changedTs: at };
	return accept({ conversation }, { type: 'changed', conversation, at, what, actor, previous });
}

const refuseDirectOrOutsider = (situation: Situation): Decision | undefined =>
	refuseOutsider(situation) ??
	(isDirect(situation.conversation.kind) ? refuse('method_not_supported_for_channel_type') : undefined);

export function decideArchive(situation: Situation): Decision {
	const problem = refuseDirectOrOutsider(situation);
	if (problem) return problem;
	if (situation.conversation.archived) return refuse('already_archived');
	return change(situation, 'archive', { archived: true });
}

export function decideUnarchive(situation: Situation): Decision {
	const problem = refuseDirectOrOutsider(situation);
	if (problem) return problem;
	if (!situation.conversation.archived) return refuse('not_archived');
	return change(situation, 'unarchive', { archived: false });
}

/** That no other channel has the name was settled before: names are reserved in the directory. */
export function decideRename(situation: Situation, action: ActionOf<'rename'>): Decision {
	const { conversation } = situation;
	const problem = refuseDirectOrOutsider(situation);
	if (problem) return problem;
	if (conversation.archived) return refuse('is_archived');
	const invalid = checkChannelName(action.name);
	if (invalid) return refuse(invalid);
	if (action.name === conversation.name) return accept({ conversation, unchanged: true });
	const previousNames = [...conversation.previousNames, conversation.name];
	return change(situation, 'rename', { name: action.name, previousNames });
}

export function decideRemark(situation: Situation, what: 'topic' | 'purpose', value: string): Decision {
	const { conversation, actor, at } = situation;
	const problem = refuseDirectOrOutsider(situation);
	if (problem) return problem;
	if (conversation.archived) return refuse('is_archived');
	if (value.length > MAX_REMARK_LENGTH) return refuse('too_long', `${what}: at most ${MAX_REMARK_LENGTH}`);
	return change(situation, what, { [what]: { value, creator: actor, lastSet: Math.floor(at / 1e6) } });
}
