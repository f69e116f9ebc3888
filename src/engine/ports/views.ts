import type { Cursor } from '../../model/cursor.ts';
import type {
	ConversationView,
	FollowerPosition,
	InboxOrder,
	MemberPosition,
	NotificationLevel,
	UserView,
} from '../../model/views.ts';
import type { Command } from '../../sequencer/commands.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { ReadFact } from './facts.ts';

/** What is to be known of a conversation. */
export interface Wanted {
	readonly id: string;
	/** Entries after this ts; null for none. */
	readonly back: number | null;
	/** Roots of threads, each wanted whole. */
	readonly threads: readonly number[];
	/** Those entries also where it is archived, and nothing of it counts. */
	readonly archivedToo?: boolean;
}

/**
 * Everything that the user is in: without entries; with entries back to the user's cursors; with these and the threads that
 * the user follows.
 */
export type Everywhere = 'heads' | 'cursors' | 'threads';

/** What a question is about. */
export interface Scope {
	readonly all?: Everywhere;
	/** These as well, by the user's own state. */
	readonly some?: (user: UserView) => readonly Wanted[];
	/** What the user left lately counts as well for what changed. */
	readonly changes?: true;
}

/** A set of conversations. */
export interface Ids extends Iterable<string> {
	has(id: string): boolean;
}

/** Views of one moment. They are true during the call that they are handed to, and no longer. */
export interface ViewSnapshot {
	readonly user: UserView;
	/** One that was asked for; undefined where there is none. */
	conversation(id: string): ConversationView | undefined;
	/** Where all were asked for: what the user is in, archived ones included. */
	eachConversation(visit: (member: MemberPosition) => void): void;
	/** There are no more than so many. */
	readonly mostConversations: number;
	/** Where cursors were asked for: conversations in use of which this holds, which depends on the place alone. */
	where(holds: (member: MemberPosition) => boolean): Ids;
	/** Where all were asked for: of the conversations in use after this place, the newest; in a set, or outside of it. */
	newest(start: InboxOrder | null, most: number, among?: Ids, inside?: boolean): readonly ConversationView[];
	/** Where threads were asked for: those that the user follows, of conversations in use. */
	threads(): Iterable<FollowerPosition>;
	/** Everything up to this stamp that can be seen is in the views. */
	readonly stamp: number;
	/** Where all were asked for: what a client that knows these views is at. Nothing after it, up to the stamp, concerns the user. */
	position(): number;
	/** Where all and changes were asked for: what changed, or came to be seen, after this stamp. */
	changedSince(since: number): ChangedViews;
}

export interface ChangedViews {
	/** Conversations the user is in where anything at all changed; some may turn out to be nothing. */
	readonly conversations: readonly string[];
	/** By how much a change, among those that were changed, came to be seen later than it took place. */
	readonly lateness: number;
	/** What was missed since a position before this one is not known. */
	readonly horizon: number;
	/** No change with a stamp up to this one comes to be seen any more; 0 where several processes give stamps, and nobody knows. */
	readonly settled: number;
}

/** What a user's own state becomes. */
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

/** A change, and whether anything is another by it: what is repeated has to be durable as well. */
export interface Decided {
	readonly change: Change;
	readonly moves: boolean;
}

export interface Changing<D extends Decided, Problem extends string, T> {
	/** Changes about one conversation take turns; null: about none. */
	readonly about: string | null;
	/** What it is decided on. It covers what is shown as well, where nothing else changes meanwhile. */
	readonly scope: Scope;
	/** Pure: it may be called again, where the state changed meanwhile. */
	readonly decide: (views: ViewSnapshot) => D | Problem;
	/** What is shown of the state after it, whatever else changed meanwhile. */
	readonly shown: Scope;
	/** Null where the place is not there any more. */
	readonly show: (views: ViewSnapshot) => T | null;
	/**
	 * Called once the change cannot be lost any more, in the order of stamps; also for one that moves nothing: it may repeat a change of a
	 * process that died before it called this.
	 */
	readonly onDurable: (shown: T) => void;
}

export interface Changed<D, T> {
	readonly decided: D;
	readonly shown: T;
	/** Resolves when neither the change nor anything that is shown can be lost any more. */
	readonly durable: Promise<void>;
}

/** Ends a hold on loaded views. Calling it again does nothing. */
export type Release = () => void;

/** Takes the cursors that moved with effects. */
export type Keep<T> = (moved: readonly ReadFact[]) => T;

/** Why something was not taken from the store again, and is as it was. */
export type RepairProblem =
	/** The store does not have everything yet: what it lacks would be lost. */
	| 'store_behind'
	/** It changed at every attempt. */
	| 'changing';

/**
 * Conversations and users as everything about reading is derived from: a cache of the store, loaded on first use. An engine keeps
 * the views, knows how fresh they are and changes them safely. It counts nothing: what views come to is in `src/unread`.
 */
export interface Views {
	/**
	 * Calls `use` with views of one moment, current as of the call, and answers when everything that they show is durable. `use` is
	 * pure and may be called again.
	 */
	look<T>(user: string, scope: Scope, use: (views: ViewSnapshot) => T): Promise<T>;
	/**
	 * Changes a user's own state: decides on views, sets where they are still so, and otherwise decides again. Null: what is to be
	 * shown is not there any more.
	 */
	change<D extends Decided, Problem extends string, T>(
		user: string,
		changing: Changing<D, Problem, T>,
	): Promise<Changed<D, T> | Problem | null>;

	/** What a client of this user that listens from now on is at: as `Looked.position`. */
	position(user: string): Promise<number>;
	/** The stamp after which everything may be unknown to a client that is at this position. */
	sinceOf(position: number): number;

	/** Keeps a set of ids for the user under a number, for a while; without a set, answers the one that is there. */
	list(user: string, number: number, ids?: Ids): Promise<Ids | null>;

	/**
	 * Loads what applying this command's effects needs, and keeps it loaded until the returned function is called. To be awaited
	 * before the command is decided.
	 */
	prepare(command: Command): Promise<Release>;
	/**
	 * Takes in what the sequencer decided, in order, and calls `keep` with the cursors that moved with it, which are to be made durable
	 * together with the effects. Where all of it is in memory, both are done before this returns: nothing comes between them.
	 */
	apply<T>(effects: readonly Effect[], keep: Keep<T>): Promise<T>;
	/** The store has everything of this conversation up to this stamp: what is kept here need not be kept for that. */
	written(conversation: string, stamp: number): Promise<void>;

	/** Refuses while questions would be refused, because what is kept was lost and is being restored. */
	available(): Promise<void>;
	/**
	 * Takes from the store again what is kept of this conversation, and of this user in it. Nothing that was acknowledged
	 * is lost by it: it takes place only where the store has everything that is kept here.
	 */
	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem>;
}
