import type { Mark } from '../../model/cursor.ts';
import type { ConversationKind } from '../../model/ids.ts';
import type { CountRow, RowPosition, ThreadRow, UnreadItem } from '../../model/rows.ts';
import type { Command } from '../../sequencer/commands.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { NotificationLevel, ReadFact } from './facts.ts';

export type { CountRow, RowPosition, ThreadRow, UnreadItem };

/** All threads that a user follows, together. */
export interface ThreadTotals {
	readonly unread: number;
	readonly mentions: number;
	/** What they add to the badge. */
	readonly badge: number;
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
	/** The row is true during the call only: the next one may be the same object, filled anew. */
	row(row: CountRow): void;
}

/** A place in the inbox: what comes after it is older, or as old with a higher id. */
export interface InboxPlace {
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
	readonly start: InboxPlace | null;
	/** Conversations with something unread before the others. */
	readonly unreadFirst: boolean;
}

export interface InboxPage {
	readonly rows: readonly CountRow[];
	/** Where the next page starts; null at the end. */
	readonly next: InboxPlace | null;
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
export interface MomentQuery {
	readonly since: number;
	readonly rows: readonly string[];
	readonly threads: readonly { readonly conversation: string; readonly threadTs: number }[];
}

/** How a user's state was at one moment: everything up to its stamp is in it, nothing later. */
export interface Moment {
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
	/**
	 * Where several processes give stamps there is no such moment: a change may come to be seen after others with
	 * later stamps. Then what is told overlaps with what is told live, and nothing is left out.
	 */
	readonly loose?: {
		/** By how much a change, among those that were changed, came to be seen later than it took place. */
		readonly lateness: number;
		/** Who left before this stamp cannot be told what was missed. */
		readonly horizon: number;
	};
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
 * Called with the row once its change cannot be lost any more: the moment to tell others of it. Calls come
 * in the order of the changes' stamps, among themselves and with the effects of commands.
 */
export type Tell<Row> = (row: Row) => void;

/** A mark that cannot be: of who is no member, or of a message that is not in the timeline. */
export type MarkProblem = 'not_a_member' | 'no_such_message' | 'not_following';

/** Why something was not taken from the store anew, and is as it was. */
export type RepairProblem =
	/** The store does not have everything yet: what it lacks would be lost. */
	| 'store_behind'
	/** It changed at every attempt. */
	| 'changing';

/**
 * Timelines, cursors, mentions and threads: what every count is derived from. A cache of the store, loaded
 * on first use. Nothing in it is a count.
 *
 * What a query answers is durable: an answer never shows a change that a crash could still undo. Where several processes share
 * the state, that holds of changes made through this one. A mark that another one is just making durable may be shown already;
 * should that process die in this very moment, the shared state alone has it, until somebody tells the log of it again.
 */
export interface ReadState {
	/** Loads what applying this command's effects needs. To be awaited before it is decided. */
	prepare(command: Command): Promise<void>;
	/**
	 * Takes in what the sequencer decided, in order; answers with the cursors that moved with it. What it
	 * returns is to be made durable together with the effects.
	 */
	apply(effects: readonly Effect[]): readonly ReadFact[] | Promise<readonly ReadFact[]>;

	/** The store has everything of this conversation up to this stamp: what is kept here need not be kept for that. */
	written?(conversation: string, stamp: number): Promise<void>;

	mark(
		user: string,
		conversation: string,
		mark: Mark,
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem>;
	markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
		tell: Tell<ThreadRow>,
	): Promise<ThreadChange | MarkProblem>;
	setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem>;
	/** The user came to be active (connected and not away), or ceased to be. Resolves when durable. */
	setActive(user: string, active: boolean): Promise<void>;

	member(user: string, conversation: string): Promise<MemberView | null>;
	/** Everything the user is in, archived conversations included. */
	memberships(user: string): Promise<readonly MemberView[]>;
	row(user: string, conversation: string): Promise<CountRow | null>;
	counts(user: string): Promise<UserCounts>;
	/** The same for users in very many conversations: the rows go to the sink, all of one moment. */
	countsInto(user: string, sink: CountSink): Promise<CountTotals>;
	/**
	 * Unread messages of one conversation (or of all, with its threads), oldest first. Of all: where a conversation has more
	 * than counts tell, at least as many of the newest, and every one that mentions the user.
	 */
	unread(user: string, conversation?: string): Promise<readonly UnreadItem[]>;
	/**
	 * Conversations by latest activity, newest first, from after `start` on. Every conversation is on one page
	 * of a list, except for what got or lost a newest message while it was gone through. Engines forget lists
	 * with the unread ones first after a while, or at a restart: then there is no such list.
	 */
	inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'>;
	threads(user: string): Promise<readonly ThreadRow[]>;
	threadTotals(user: string): Promise<{ readonly threads: ThreadTotals; readonly stamp: number }>;
	thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null>;
	/** Everything asked for, of one and the same moment. */
	moment(user: string, query: MomentQuery): Promise<Moment>;
	/** Refuses while questions would be refused, because what is kept was lost and is being restored. */
	available(): Promise<void>;
	/** What a client of this user that listens from now on is at: see `Moment.position`. */
	stampOf(user: string): Promise<number>;

	/**
	 * Takes from the store anew what is kept of this conversation, and of this user in it. Nothing that was acknowledged
	 * is lost by it: it takes place only where the store has everything that is kept here.
	 */
	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem>;
}
