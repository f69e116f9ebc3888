import type { ConversationScope, Scope, ViewSnapshot } from '../engine/ports/views.ts';
import type { FollowerContext, MemberContext, MembershipView, UserView } from '../model/views.ts';

/** Queries about single conversations and threads of a user. */

/** What to load, and the answer from the loaded views; null if there is none. */
export interface Query<T> extends Scope {
	readonly some: (user: UserView) => readonly ConversationScope[];
	readonly answer: (views: ViewSnapshot) => T | null;
}

/** Needs the entries after the ts that `after` returns; null for none. Answers null if the user is not a member. */
export const ofConversation = <T>(
	id: string,
	use: (member: MemberContext) => T,
	after: (membership: MembershipView) => number | null = ({ cursor }) => cursor,
): Query<T> => ({
	some: (user) => {
		const membership = user.membership(id);
		return membership?.member ? [{ id, after: after(membership), threads: [], archivedToo: true }] : [];
	},
	answer: (views) => {
		const { user } = views;
		const membership = user.membership(id);
		const conversation = membership?.member && views.conversation(id);
		return conversation ? use({ user, conversation, membership }) : null;
	},
});

/** Answers null if the user does not follow the thread. */
export const ofThread = <T>(id: string, threadTs: number, use: (member: FollowerContext) => T): Query<T> => ({
	some: (user) => (user.follow(id, threadTs) ? [{ id, after: null, threads: [threadTs] }] : []),
	answer: (views) => {
		const { user } = views;
		const follow = user.follow(id, threadTs);
		const conversation = follow && views.conversation(id);
		const thread = conversation?.threads.get(threadTs);
		return conversation && thread ? use({ user, conversation, threadTs, thread, follow }) : null;
	},
});

/** Answers all of these queries at one moment, without those that have no answer. */
export const allOf = <T>(queries: readonly Query<T>[]) => ({
	some: (user: UserView) => queries.flatMap(({ some }) => some(user)),
	answer: (views: ViewSnapshot): T[] => queries.flatMap(({ answer }) => answer(views) ?? []),
});
