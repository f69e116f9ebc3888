import type { Message } from '../model/message.ts';
import type { Situation } from './decision.ts';
import type { Effect, ThreadSummary } from './effects.ts';
import { type ConversationState, type Follow, isMember, type JoinState, repliersOf } from './state.ts';

/** Followers and summary of a thread. */

const USERS_SHOWN = 5;

/**
 * Whether a user follows a thread, and since when. Leaving the conversation ends all follows in it without a write: a
 * follow that began before the current membership does not count. The author of the root follows
 * the thread even while `follows` has no item for them.
 */
export function followOf(state: ConversationState, root: Message, user: string): Follow | null {
	const record = state.threads.get(root.ts)?.follows.get(user);
	return followFrom(root, user, state.members.get(user), record);
}

/** As `followOf`, but computed from rows of the store. */
export function followFrom(
	root: Pick<Message, 'ts' | 'user'>,
	user: string,
	membership: JoinState | undefined | null,
	record: Follow | undefined | null,
): Follow | null {
	if (!membership?.member) return null;
	if (record) return record.active && record.since >= membership.joinedTs ? record : null;
	if (root.user !== user || root.ts < membership.joinedTs) return null;
	return { cursor: root.ts, active: true, since: root.ts };
}

export const hasReplies = (state: ConversationState, root: Message): boolean =>
	(state.threads.get(root.ts)?.replies.length ?? 0) > 0;

/** The root of a thread; undefined if the message is a reply, or is deleted and has no replies. */
export function rootOf(state: ConversationState, threadTs: number): Message | undefined {
	const root = state.messages.get(threadTs);
	if (!root || root.threadTs !== null) return undefined;
	return root.deleted && !hasReplies(state, root) ? undefined : root;
}

/** Follows that a reply creates: of the root's author (first reply), the reply's author, and the users it names. */
export function followsOfReply(
	situation: Situation,
	root: Message,
	reply: Message,
): { before: Effect[]; after: Effect[] } {
	const { state, conversation, at } = situation;
	const follow = (user: string, cursor: number): Effect => ({
		type: 'followed',
		conversation,
		at,
		user,
		threadTs: root.ts,
		cursor,
	});
	// The first reply records that the root's author follows. The effect precedes the reply, so that the reply counts for them.
	const isUnrecorded = !state.threads.get(root.ts)?.follows.get(root.user);
	const unrecorded = isUnrecorded ? followOf(state, root, root.user) : null;
	const before = unrecorded ? [follow(root.user, unrecorded.cursor)] : [];
	const after: Effect[] = [];
	// A guest follows no threads.
	if (isMember(state, reply.user) && !followOf(state, root, reply.user))
		after.push(follow(reply.user, reply.ts));
	for (const user of reply.named) {
		if (user !== reply.user && !followOf(state, root, user)) after.push(follow(user, reply.ts - 1));
	}
	return { before, after };
}

/** If an edit of a reply names further users, they follow the thread, except the author. */
export function followsOfEdit(situation: Situation, message: Message, previous: Message): Effect[] {
	const { state, conversation, at } = situation;
	const root = message.threadTs === null ? null : state.messages.get(message.threadTs);
	if (!root) return [];
	return message.named
		.filter((user) => user !== message.user && !previous.named.includes(user) && !followOf(state, root, user))
		.map((user) => ({
			type: 'followed',
			conversation,
			at,
			user,
			threadTs: root.ts,
			cursor: message.ts - 1,
		}));
}

/** The thread after a reply was added or removed. */
export function summaryOf(
	state: ConversationState,
	root: Message,
	change: { added?: Message; removed?: Message },
): ThreadSummary {
	const thread = state.threads.get(root.ts);
	const { added, removed } = change;
	let replies = thread?.replies ?? [];
	let repliers: ReadonlySet<string> = thread?.repliers ?? new Set();
	if (removed) {
		replies = replies.filter(({ ts }) => ts !== removed.ts);
		repliers = repliersOf(replies);
	}
	if (added) repliers = new Set(repliers).add(added.user);
	return {
		root,
		replyCount: replies.length + (added ? 1 : 0),
		latestReply: added?.ts ?? replies.at(-1)?.ts ?? 0,
		replyUsers: [...repliers].slice(0, USERS_SHOWN),
		replyUsersCount: repliers.size,
	};
}
