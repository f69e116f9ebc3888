import type { Cursor } from '../../model/cursor.ts';
import type {
	ConversationView,
	FollowerContext,
	InboxOrder,
	MemberContext,
	NotificationLevel,
	UserView,
} from '../../model/views.ts';
import type { Command } from '../../sequencer/commands.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { ReadFact } from './facts.ts';

/** Which part of a conversation to load. */
export interface ConversationScope {
	readonly id: string;
	/** Load entries after this ts; null: none. */
	readonly after: number | null;
	/** Roots of threads, which are loaded completely. */
	readonly threads: readonly number[];
	/** Load entries even if the conversation is archived and does not count. */
	readonly archivedToo?: boolean;
}

/**
 * All conversations of the user: without entries; with entries back to the user's cursors; or with these and the threads
 * that the user follows.
 */
export type AllScope = 'conversations' | 'cursors' | 'threads';

/** What a read needs. */
export interface Scope {
	readonly all?: AllScope;
	/** Further conversations, depending on the user's state. */
	readonly some?: (user: UserView) => readonly ConversationScope[];
	/** Also loads conversations that the user left recently, without entries, so that `ChangedViews.lateness` covers them. */
	readonly includesLeft?: true;
}

/** A set of conversations. */
export interface Ids extends Iterable<string> {
	has(id: string): boolean;
}

/** Views at one moment. Valid only during the call that receives them. */
export interface ViewSnapshot {
	readonly user: UserView;
	/** A loaded conversation; undefined if it does not exist. */
	conversation(id: string): ConversationView | undefined;
	/** Needs `all`: visits the conversations of the user, including archived ones. */
	eachConversation(visit: (member: MemberContext) => void): void;
	/** Upper bound of their number. */
	readonly mostConversations: number;
	/** Needs `cursors`: unarchived conversations for which `holds` is true. `holds` must depend on its argument only. */
	where(holds: (member: MemberContext) => boolean): Ids;
	/** Needs `all`: unarchived conversations after `start` in the inbox, newest first. Of these, only those in `among`, or, if `isAmong` is false, only the others. */
	newest(start: InboxOrder | null, most: number, among?: Ids, isAmong?: boolean): readonly ConversationView[];
	/** Needs `threads`: threads that the user follows, in unarchived conversations. */
	threads(): Iterable<FollowerContext>;
	/** The views include what had become visible by this time. */
	readonly stamp: number;
	/** Needs `all`: the position of a client that has these views. If it is earlier than `stamp`, no change in between concerns the user. */
	position(): number;
	/** Needs `all` and `includesLeft`: conversations that changed, or whose changes became visible, after this stamp. */
	changedSince(since: number): ChangedViews;
}

export interface ChangedViews {
	/** Conversations of the user that may have changed. */
	readonly conversations: readonly string[];
	/** The longest delay, among these changes, between the stamp of a change and the moment when it became visible. */
	readonly lateness: number;
	/** `conversations` may be incomplete for a client whose position is before this stamp. */
	readonly horizon: number;
	/** Every change with a stamp up to this one is visible; 0: unknown, because several processes assign stamps. */
	readonly visibleUpTo: number;
}

/** A new value in a user's own state. */
export type Change =
	| { readonly type: 'cursor'; readonly conversation: string; readonly cursor: Cursor }
	| {
			readonly type: 'preference';
			readonly conversation: string;
			readonly muted: boolean;
			readonly level: NotificationLevel;
	  }
	| {
			readonly type: 'thread_cursor';
			readonly conversation: string;
			readonly threadTs: number;
			readonly cursor: number;
	  }
	| { readonly type: 'activity'; readonly active: boolean };

/** `moves`: whether the change alters the state. One that does not is acknowledged when the state that it repeats is durable. */
export interface Decided {
	readonly change: Change;
	readonly moves: boolean;
}

export interface ChangeRequest<D extends Decided, Problem extends string, T> {
	/**
	 * What the decision depends on. An engine that decides and shows without an await passes the same views to `show`, and ignores
	 * `showScope`.
	 */
	readonly scope: Scope;
	/** Pure: called again if the state has changed in the meantime. */
	readonly decide: (views: ViewSnapshot) => D | Problem;
	/** What `show` depends on. */
	readonly showScope: Scope;
	/** Reads the state after the change. Null if the conversation or thread is gone. */
	readonly show: (views: ViewSnapshot) => T | null;
	/**
	 * Called once the change is durable, in the order of stamps; also for a change without effect, because it may repeat a change
	 * of a process that died before this call.
	 */
	readonly onDurable: (shown: T) => void;
}

export interface ChangeResult<D, T> {
	readonly decided: D;
	readonly shown: T;
	/** Resolves when the change and everything shown is durable. */
	readonly durable: Promise<void>;
}

/** Releases loaded views for eviction. Calling it again has no effect. */
export type Release = () => void;

/** Receives the cursors that effects moved, to persist them. */
export type OnMoved<T> = (moved: readonly ReadFact[]) => T;

/** Why a view was not reloaded from the store. */
export type RepairProblem =
	/** The store does not have all changes yet: reloading would lose them. */
	| 'store_behind'
	/** The view changed during the attempt. */
	| 'changing';

/**
 * Views of conversations and users: a cache of the store, loaded on first use. An engine stores and updates the views. It
 * counts nothing: `src/unread` computes counts from them.
 */
export interface Views {
	/**
	 * Calls `use` with a snapshot of current views and resolves when everything in them is durable. `use` is
	 * pure and may be called again.
	 */
	read<T>(user: string, scope: Scope, use: (views: ViewSnapshot) => T): Promise<T>;
	/**
	 * Changes a user's own state with compare-and-set: decides on views, writes if they are unchanged, otherwise decides again.
	 * Null: `show` found nothing.
	 */
	change<D extends Decided, Problem extends string, T>(
		user: string,
		changing: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null>;

	/** The stamp after which a client may lack changes. `position`: where the client is; absent: it subscribes now. */
	since(user: string, position?: number): Promise<number>;

	/** Saves a listing, a set of conversations, under this number for a while. */
	saveListing(user: string, number: number, ids: Ids): Promise<void>;
	savedListing(user: string, number: number): Promise<Ids | null>;

	/**
	 * Loads what applying this command's effects needs, and keeps it loaded until the returned function is called. Await it
	 * before the command is decided.
	 */
	prepare(command: Command): Promise<Release>;
	/**
	 * Applies effects in order and calls `onMoved` with the cursors that they moved, which have to be persisted together with
	 * the effects. If all views are in memory, it does both without an await. The store has all effects on these conversations up to the
	 * stamp `stored`: views need not keep them.
	 */
	apply<T>(effects: readonly Effect[], stored: number, onMoved: OnMoved<T>): Promise<T>;

	/** Rejects while some views are lost and being rebuilt: reads of these would be rejected. */
	available(): Promise<void>;
	/**
	 * Attempts once to reload this conversation and this user's state in it from the store. No acknowledged change is lost: it
	 * does so only if the store has everything that the views have.
	 */
	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem>;
}
