import { checkChannelName } from '../model/channel-name.ts';
import { type Conversation, isGeneral } from '../model/conversation.ts';
import { isDirect } from '../model/ids.ts';
import { type ActionOf, accept, type Decision, reject, rejectOutsider, type Situation } from './decision.ts';
import type { Effect } from './effects.ts';

/** Name, topic, purpose and archiving of a conversation. */

const MAX_TEXT_LENGTH = 250;

type ChangedField = Extract<Effect, { type: 'changed' }>['what'];

function change({ head, actor, at }: Situation, what: ChangedField, fields: Partial<Conversation>): Decision {
	const previous = head.conversation;
	const conversation: Conversation = { ...previous, ...fields, changedTs: at };
	return accept({ conversation }, { type: 'changed', conversation, at, what, actor, previous });
}

const rejectDirectOrOutsider = (situation: Situation): Decision | undefined =>
	rejectOutsider(situation) ??
	(isDirect(situation.conversation.kind) ? reject('method_not_supported_for_channel_type') : undefined);

export function decideArchive(situation: Situation): Decision {
	const problem = rejectDirectOrOutsider(situation);
	if (problem) return problem;
	if (isGeneral(situation.conversation)) return reject('cant_archive_general');
	if (situation.conversation.archived) return reject('already_archived');
	return change(situation, 'archive', { archived: true });
}

export function decideUnarchive(situation: Situation): Decision {
	const problem = rejectDirectOrOutsider(situation);
	if (problem) return problem;
	if (!situation.conversation.archived) return reject('not_archived');
	return change(situation, 'unarchive', { archived: false });
}

/** The gateway has reserved the name in the directory, so no other channel has it. */
export function decideRename(situation: Situation, action: ActionOf<'rename'>): Decision {
	const { conversation } = situation;
	const problem = rejectDirectOrOutsider(situation);
	if (problem) return problem;
	if (conversation.archived) return reject('is_archived');
	const invalid = checkChannelName(action.name);
	if (invalid) return reject(invalid);
	if (action.name === conversation.name) return accept({ conversation, unchanged: true });
	const previousNames = [...conversation.previousNames, conversation.name];
	return change(situation, 'rename', { name: action.name, previousNames });
}

export function decideTopicOrPurpose(
	situation: Situation,
	what: 'topic' | 'purpose',
	value: string,
): Decision {
	const { conversation, actor, at } = situation;
	const problem = rejectDirectOrOutsider(situation);
	if (problem) return problem;
	if (conversation.archived) return reject('is_archived');
	if (value.length > MAX_TEXT_LENGTH)
		return reject('too_long', `${what}: at most ${MAX_TEXT_LENGTH} characters`);
	return change(situation, what, { [what]: { value, creator: actor, lastSet: Math.floor(at / 1e6) } });
}
