import { type Conversation, isGeneral } from '../model/conversation.ts';
import { isDirect } from '../model/ids.ts';
import type { Command } from './commands.ts';
import { type ActionOf, accept, type Decision, reject, rejectOutsider, type Situation } from './decision.ts';
import type { Effect } from './effects.ts';
import { type ConversationState, isMember } from './state.ts';

/** Creating, joining and leaving a conversation. */

export const MAX_MEMBERS = 500_000;

export function decideCreate(
	state: ConversationState,
	command: Command,
	action: ActionOf<'create'>,
): Decision {
	// The id of a direct message is derived from its members: creating it again opens it.
	if (state.head) return accept({ conversation: state.head.conversation, unchanged: true });
	const at = command.at;
	const conversation: Conversation = {
		...action.conversation,
		memberCount: action.members.length,
		createdTs: at,
		changedTs: at,
	};
	return accept(
		{ conversation },
		{ type: 'created', conversation, at, members: action.members, actor: command.actor },
	);
}

export function decideJoin(situation: Situation): Decision {
	const { state, conversation, actor } = situation;
	const member = isMember(state, actor);
	if (isDirect(conversation.kind))
		return reject(member ? 'method_not_supported_for_channel_type' : 'channel_not_found');
	if (conversation.kind === 'private' && !member) return reject('channel_not_found');
	if (conversation.archived) return reject('is_archived');
	if (member) return accept({ conversation, unchanged: true });
	return join(situation, [actor], null);
}

export function decideInvite(situation: Situation, action: ActionOf<'invite'>): Decision {
	const { state, conversation, actor } = situation;
	const problem = rejectOutsider(situation) ?? rejectDirect(situation);
	if (problem) return problem;
	if (conversation.archived) return reject('is_archived');
	if (action.users.includes(actor)) return reject('cant_invite_self');
	const fresh = action.users.filter((user) => !isMember(state, user));
	if (fresh.length === 0 || (fresh.length < action.users.length && !action.force)) {
		const member = action.users.find((user) => isMember(state, user));
		return reject('already_in_channel', `users: ${member} is already a member`);
	}
	return join(situation, fresh, actor);
}

export function decideAddMembers(situation: Situation, action: ActionOf<'add_members'>): Decision {
	const { state, conversation } = situation;
	const problem = rejectDirect(situation);
	if (problem) return problem;
	if (conversation.archived) return reject('is_archived');
	const fresh = action.users.filter((user) => !isMember(state, user));
	const alreadyMembers = action.users.length - fresh.length;
	if (fresh.length === 0) return accept({ conversation, added: 0, alreadyMembers });
	const joined = join(situation, fresh, null);
	if (!joined.outcome.ok) return joined;
	return accept({ ...joined.outcome.result, added: fresh.length, alreadyMembers }, ...joined.effects);
}

function join(situation: Situation, users: readonly string[], inviter: string | null): Decision {
	const { head, at } = situation;
	const memberCount = head.conversation.memberCount + users.length;
	if (memberCount > MAX_MEMBERS) return reject('too_many_members', `at most ${MAX_MEMBERS} members`);
	const conversation = { ...head.conversation, memberCount };
	const latest = head.tail.at(-1) ?? 0;
	const effect: Effect = { type: 'joined', conversation, at, users, inviter, cursor: head.lastTs, latest };
	return accept({ conversation }, effect);
}

export function decideLeave(situation: Situation): Decision {
	const { state, conversation, actor } = situation;
	if (!isMember(state, actor)) {
		return conversation.kind === 'public' ? accept({ unchanged: true }) : reject('channel_not_found');
	}
	const problem = rejectDirect(situation);
	if (problem) return problem;
	if (isGeneral(conversation)) return reject('cant_leave_general');
	if (conversation.archived) return reject('is_archived');
	if (conversation.kind === 'private' && conversation.memberCount === 1) return reject('last_member');
	return leave(situation, actor);
}

export function decideKick(situation: Situation, action: ActionOf<'kick'>): Decision {
	const { state, conversation, actor } = situation;
	const problem = rejectOutsider(situation) ?? rejectDirect(situation);
	if (problem) return problem;
	if (conversation.archived) return reject('is_archived');
	if (isGeneral(conversation)) return reject('cant_kick_from_general');
	if (action.user === actor) return reject('cant_kick_self');
	if (!isMember(state, action.user)) return reject('not_in_channel', `user: ${action.user} is not a member`);
	return leave(situation, action.user);
}

function leave({ head, at, actor }: Situation, user: string): Decision {
	const conversation = { ...head.conversation, memberCount: head.conversation.memberCount - 1 };
	return accept({ conversation }, { type: 'left', conversation, at, user, actor });
}

const rejectDirect = ({ conversation }: Situation): Decision | undefined =>
	isDirect(conversation.kind) ? reject('method_not_supported_for_channel_type') : undefined;
