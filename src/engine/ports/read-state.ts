import type { ConversationKind } from '../../model/ids.ts';
import type { CountRow, RowPosition, ThreadRow, UnreadItem } from '../../model/rows.ts';
import type { NotificationLevel } from './facts.ts';

export type { CountRow, RowPosition, ThreadRow, UnreadItem };

/** Totals of all threads that a user follows. */
export interface ThreadTotals {
	readonly unread: number;
	readonly mentions: number;
	/** What they add to the badge. */
	readonly badge: number;
	/** Newest stamps of the user's read state and of the user's conversations. Independent of the gateway's clock. */
	readonly version: { readonly user: number; readonly conversations: number };
}

export interface CountTotals {
	readonly threads: ThreadTotals;
	readonly badge: number;
	/** The position of a client that has these counts. */
	readonly position: number;
}

export interface UserCounts extends CountTotals {
	/** Unarchived conversations of the user. */
	readonly rows: readonly CountRow[];
}

/** Receives the rows of a user one by one, so that an engine need not create an object for each. */
export interface CountSink {
	/** Called before the first row, and again if the engine starts over: discard earlier rows. */
	begin(atMost: number): void;
	/** The row is valid only during the call: the object is reused. */
	row(row: CountRow): void;
}

/**
 * The last conversation of the previous page. The next page starts with older ones, or equally old ones with a higher id.
 */
export interface InboxPageStart {
	/**
	 * The stamp at which the listing of an unread-first page began. Conversations that were unread then stay in its first
	 * part, even if they are read in the meantime. Null if the inbox is not unread-first.
	 */
	readonly listing: number | null;
	/** Whether the conversation is in the first part. */
	readonly unread: boolean;
	readonly latest: number;
	readonly conversation: string;
}

export interface InboxQuery {
	readonly limit: number;
	/** Null: from the top. Must come from a listing in the same order. */
	readonly start: InboxPageStart | null;
	/** List unread conversations before the others. */
	readonly unreadFirst: boolean;
}

export interface InboxPage {
	readonly rows: readonly CountRow[];
	/** Where the next page starts; null at the end. */
	readonly next: InboxPageStart | null;
}

export interface MemberState {
	readonly conversation: string;
	readonly kind: ConversationKind;
	readonly archived: boolean;
	readonly lastRead: number;
	readonly revision: number;
	readonly muted: boolean;
	readonly level: NotificationLevel;
}
