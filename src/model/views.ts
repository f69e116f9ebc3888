import type { Reader } from './counting.ts';
import type { ConversationKind } from './ids.ts';
import type { Timeline } from './timeline.ts';

/**
 * The state that all counts are computed from. An engine stores and updates it;
 * rows.ts, counting.ts and cursor.ts compute from it.
 */

export type NotificationLevel = 'all' | 'mentions' | 'none';

/** Only the worker that owns the conversation writes it. */
export interface ConversationView {
	readonly id: string;
	readonly kind: ConversationKind;
	readonly archived: boolean;
	/** Stamp of the newest change in the conversation. */
	readonly stamp: number;
	/** Loaded down to the timeline's floor. */
	readonly timeline: Timeline;
	/** Loaded threads; each is complete. */
	readonly threads: ReadonlyMap<number, Timeline>;
}

/** Any process may write it, with compare-and-set. */
export interface UserView {
	readonly id: string;
	/** The user's number in timelines. */
	readonly number: number;
	/** Stamp of the newest change of the user's read state. */
	readonly stamp: number;
	readonly activity: Reader['activity'];
	/** Also set for conversations that the user has left. */
	membership(conversation: string): MembershipView | undefined;
	follow(conversation: string, threadTs: number): FollowView | undefined;
}

/** A user's state in one conversation. */
export interface MembershipView {
	readonly member: boolean;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	readonly revision: number;
	readonly cursor: number;
	/** Messages of others after the cursor that the user has already read. */
	readonly ahead: ReadonlySet<number>;
}

/** A thread that a user follows. */
export interface FollowView {
	readonly cursor: number;
	/** Stamp of when following began. */
	readonly since: number;
}

export const NOTHING_AHEAD: ReadonlySet<number> = new Set();

/** Everything needed to count one user's unread messages in one conversation. */
export interface MemberContext {
	readonly user: UserView;
	readonly conversation: ConversationView;
	readonly membership: MembershipView;
}

/** Everything needed to count one user's unread replies in one followed thread. */
export interface FollowerContext {
	readonly user: UserView;
	readonly conversation: ConversationView;
	readonly threadTs: number;
	readonly thread: Timeline;
	readonly follow: FollowView;
}

export const readerOf = (user: UserView, cursor: number, ahead = NOTHING_AHEAD): Reader => ({
	number: user.number,
	cursor,
	ahead,
	activity: user.activity,
});

/** Sort key of a conversation in the inbox. */
export interface InboxOrder {
	readonly latest: number;
	readonly conversation: string;
}

/** Conversations with the newest message first; ids break ties. */
export const byLatestMessage = (a: InboxOrder, b: InboxOrder): number => {
	if (a.latest !== b.latest) return b.latest - a.latest;
	if (a.conversation === b.conversation) return 0;
	return a.conversation < b.conversation ? -1 : 1;
};
