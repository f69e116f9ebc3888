import type { Scope, ViewSnapshot } from '../engine/ports/views.ts';
import type { FollowerContext, MemberContext, MembershipView } from '../model/views.ts';

/** Reads one conversation or thread of a user: the scope to load, and its views once they are loaded. */

export const NO_THREADS: readonly number[] = [];

export const toCursor = ({ cursor }: MembershipView): number => cursor;

/** Loads the entries after the ts that `after` returns; null for none. */
export const scopeOfConversation = (
	id: string,
	after: (membership: MembershipView) => number | null = toCursor,
): Scope => ({
	some: (user) => {
		const membership = user.membership(id);
		if (!membership?.member) return [];
		return [{ id, after: after(membership), threads: NO_THREADS, archivedToo: true }];
	},
});

/** Null if the user is not a member. */
export function inConversation<T>(
	views: ViewSnapshot,
	id: string,
	use: (member: MemberContext) => T,
): T | null {
	const { user } = views;
	const membership = user.membership(id);
	const conversation = membership?.member && views.conversation(id);
	return conversation ? use({ user, conversation, membership }) : null;
}

export const scopeOfThread = (id: string, threadTs: number): Scope => ({
	some: (user) => (user.follow(id, threadTs) ? [{ id, after: null, threads: [threadTs] }] : []),
});

/** Null if the user does not follow it. */
export function inThread<T>(
	views: ViewSnapshot,
	id: string,
	threadTs: number,
	use: (member: FollowerContext) => T,
): T | null {
	const { user } = views;
	const follow = user.follow(id, threadTs);
	const conversation = follow && views.conversation(id);
	const thread = conversation?.threads.get(threadTs);
	return conversation && thread ? use({ user, conversation, threadTs, thread, follow }) : null;
}
