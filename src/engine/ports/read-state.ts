import type { ConversationKind } from '../../model/ids.ts';
import type { CountRow, RowPosition, ThreadRow, UnreadItem } from '../../model/rows.ts';
import type { NotificationLevel } from './facts.ts';

export type { CountRow, RowPosition, ThreadRow, UnreadItem };

/** All threads that a user follows, together. */
export interface ThreadTotals {
	readonly unread: number;
	readonly mentions: number;
	/** What they add to the badge. */
	readonly badge: number;
	/** Stamps of the newest changes of the user's read state and of the user's conversations. Gateways whose clocks differ have the same. */
	readonly version: { readonly user: number; readonly conversations: number };
}

export interface CountTotals {
	readonly threads: ThreadTotals;
	readonly badge: number;
	/** Stamp of the user's whole stream. */
	readonly stamp: number;
}

export interface UserCounts extends CountTotals {
	/** Conversations the user is in that are not archived. */
	readonly rows: readonly CountRow[];
}

/** Takes the rows of a user one by one, so that an engine need not make an object of each. */
export interface CountSink {
	/** Before the first row. Called again where the engine has to start over: what came before is void. */
	begin(atMost: number): void;
	/** The row is true during the call only: the next one may be the same object, filled again. */
	row(row: CountRow): void;
}

/** A place in the inbox: what comes after it is older, or as old with a higher id. */
export interface InboxPageStart {
	/**
	 * With the unread ones first: which list this is a place in, named by the stamp as of which it was begun. What
	 * was unread then is in the first part of the list to its end, whatever is read or marked unread meanwhile.
	 * Null in the other order.
	 */
	readonly listing: number | null;
	/** In the first part. */
	readonly unread: boolean;
	readonly latest: number;
	readonly conversation: string;
}

export interface InboxQuery {
	readonly limit: number;
	/** Null: from the top. Of a list in the same order. */
	readonly start: InboxPageStart | null;
	/** Conversations with something unread before the others. */
	readonly unreadFirst: boolean;
}

export interface InboxPage {
	readonly rows: readonly CountRow[];
	/** Where the next page starts; null at the end. */
	readonly next: InboxPageStart | null;
}

export interface MemberView {
	readonly conversation: string;
	readonly kind: ConversationKind;
	readonly archived: boolean;
	readonly lastRead: number;
	readonly revision: number;
	readonly muted: boolean;
	readonly level: NotificationLevel;
}

/** What is asked about a moment: the rows of these, and where anything changed since. */
export interface SnapshotQuery {
	readonly since: number;
	readonly rows: readonly string[];
	readonly threads: readonly { readonly conversation: string; readonly threadTs: number }[];
}

/** How a user's state was at one moment. */
export interface UserSnapshot {
	readonly stamp: number;
	/** What a client that knows this moment is at. Nothing after it, up to the stamp, concerns the user. */
	readonly position: number;
	/** Stamp of the newest change of the user's own state: memberships, cursors, preferences, follows. */
	readonly ownStamp: number;
	/** Conversations the user is in where anything at all changed since; some may turn out to be nothing. */
	readonly changed: readonly string[];
	/** Of what the user was in, and followed, at that moment. */
	readonly rows: readonly CountRow[];
	readonly threads: readonly ThreadRow[];
	/** See `ChangedViews`. */
	readonly lateness: number;
	readonly horizon: number;
	readonly settled: number;
}

/** What a change of the read state came to. */
export interface RowChange {
	readonly row: CountRow;
	/** The mark carried an older revision and moved nothing. */
	readonly ignored: boolean;
	/**
	 * Resolves when neither the change nor anything that the row shows can be lost any more: only then may it
	 * be acknowledged, also where it changed nothing. Null: there is nothing to wait for.
	 */
	readonly durable: Promise<void> | null;
}

export interface ThreadChange {
	readonly row: ThreadRow;
	readonly durable: Promise<void> | null;
}

/**
 * Called with the row once its change is durable, to publish it. Calls come
 * in the order of the changes' stamps, among themselves and with the effects of commands.
 */
export type OnDurable<Row> = (row: Row) => void;

/** A mark that cannot be: of who is no member, or of a message that is not in the timeline. */
export type MarkProblem = 'not_a_member' | 'no_such_message' | 'not_following';
