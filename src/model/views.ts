import type { Reader } from './counting.ts';
import type { ConversationKind } from './ids.ts';
import type { Timeline } from './timeline.ts';

/**
 * The two kinds of state that everything about reading is a function of. An engine keeps them, knows how fresh they are, and changes
 * them safely; what they come to is in rows.ts, counting.ts and cursor.ts.
 */

export type NotificationLevel = 'all' | 'mentions' | 'none';

/** One writer: the owner of the conversation. */
export interface ConversationView {
	readonly id: string;
	readonly kind: ConversationKind;
	readonly archived: boolean;
	/** Stamp of its newest change of any kind. */
	readonly stamp: number;
	/** Its entries after the timeline's floor. */
	readonly timeline: Timeline;
	/** Threads in use, whole. */
	readonly threads: ReadonlyMap<number, Timeline>;
}

/** Changed by anyone, by compare-and-set. */
export interface UserView {
	readonly id: string;
	/** The user's number in timelines. */
	readonly number: number;
	/** Stamp of the newest change of the user's read state. */
	readonly stamp: number;
	readonly activity: Reader['activity'];
	/** Also of conversations that the user has left. */
	membership(conversation: string): MembershipView | undefined;
	follow(conversation: string, threadTs: number): FollowView | undefined;
}

/** What a user has in one conversation. */
export interface MembershipView {
	readonly member: boolean;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	readonly revision: number;
	readonly cursor: number;
	/** Messages of others after the cursor that were read all the same. */
	readonly ahead: ReadonlySet<number>;
}

/** A thread that a user follows. */
export interface FollowView {
	readonly cursor: number;
	/** Stamp of when following began. */
	readonly since: number;
}

export const NOTHING_AHEAD: ReadonlySet<number> = new Set();

/** A user in a conversation. */
export interface MemberPosition {
	readonly user: UserView;
	readonly conversation: ConversationView;
	readonly membership: MembershipView;
}

/** A user in a thread that they follow. */
export interface FollowerPosition {
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

/** Where a conversation is among others, by latest activity. */
export interface InboxOrder {
	readonly latest: number;
	readonly conversation: string;
}

/** The newest first; of the same latest, ids decide. */
export const byActivity = (a: InboxOrder, b: InboxOrder): number => {
	if (a.latest !== b.latest) return b.latest - a.latest;
	if (a.conversation === b.conversation) return 0;
	return a.conversation < b.conversation ? -1 : 1;
};
