/**
 * The oracle's data: plain records, nothing derived, nothing indexed. Every count is computed by filtering all of them,
 * so that the code reads like the formulas in docs/model.md.
 */

export type ConversationKind = 'public' | 'private' | 'im' | 'mpim';

export interface Message {
	/** An integer of microseconds, from the server. */
	readonly ts: number;
	readonly author: string;
	/** The root's ts, for replies only. */
	readonly threadTs: number | undefined;
	readonly broadcast: boolean;
	text: string;
	editedAt: number | undefined;
	deleted: boolean;
	/** The users that the text named when it was sent or edited, if they were members then. */
	named: Set<string>;
}

/** Kept after a leave, because a rejoin continues the revision. */
export interface Membership {
	present: boolean;
	cursor: number;
	revision: number;
	/** Single read messages after the cursor. The user's own messages need not be here: they are never unread. */
	ahead: Set<number>;
	muted: boolean;
}

export interface Conversation {
	readonly id: string;
	readonly kind: ConversationKind;
	readonly createdAt: number;
	archived: boolean;
	/** Everything ever posted, including deleted messages, in the order of the log. */
	readonly messages: Message[];
	readonly memberships: Map<string, Membership>;
	/** thread ts -> follower -> thread cursor */
	readonly followers: Map<number, Map<string, number>>;
}

/** Whether a user was active (connected and not set to away) at a time. */
export type WasActive = (user: string, at: number) => boolean;

export interface Row {
	last_read: number;
	revision: number;
	/** The newest ts of the timeline, 0 if it is empty. */
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
