/**
 * The oracle's data: plain records, nothing derived, nothing indexed. Every count is computed from these by
 * filtering all of them, so that reading the formulas in docs and reading the code is the same thing.
 */

export type ConversationKind = 'public' | 'private' | 'im' | 'mpim';

export interface Message {
	/** Integer of microseconds, decided by the server and handed in. */
	readonly ts: number;
	readonly author: string;
	/** The root's ts, for replies only. */
	readonly threadTs: number | undefined;
	readonly broadcast: boolean;
	text: string;
	editedAt: number | undefined;
	deleted: boolean;
	/** Who the text named at a moment (send or edit) when they were members. */
	named: Set<string>;
}

/** Kept after leaving, because rejoining continues the revision. */
export interface Membership {
	present: boolean;
	cursor: number;
	revision: number;
	/** Single messages after the cursor, read anyway. One's own need not be here: they always count as in it. */
	ahead: Set<number>;
	muted: boolean;
}

export interface Conversation {
	readonly id: string;
	readonly kind: ConversationKind;
	readonly createdAt: number;
	archived: boolean;
	/** Everything ever posted, deleted messages included, in the order of the log. */
	readonly messages: Message[];
	readonly memberships: Map<string, Membership>;
	/** thread ts -> follower -> thread cursor */
	readonly followers: Map<number, Map<string, number>>;
}

/** Whether a user was active (connected and not away) at a moment. */
export type WasActive = (user: string, at: number) => boolean;

export interface Row {
	last_read: number;
	revision: number;
	/** Newest ts of the timeline, 0 for an empty one. */
	latest: number;
	unread_count: number;
	unread_count_display: number;
	mention_count: number;
	has_unreads: boolean;
	is_muted: boolean;
	unread_count_is_capped: boolean;
}

export interface Follow {
	channel: string;
	thread_ts: number;
	last_read: number;
}

export interface ThreadCounts extends Follow {
	unread: number;
	mentions: number;
}

export interface ThreadsView {
	threads: ThreadCounts[];
	totals: { has_unreads: boolean; unread_count: number; mention_count: number };
}

export type Reason = 'dm' | 'direct_mention' | 'channel_mention' | 'thread_mention';

export interface BadgeItem {
	channel: string;
	ts: number;
	thread_ts?: number;
	reasons: Reason[];
}
