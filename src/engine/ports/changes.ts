import type { Message } from '../../model/message.ts';
import type { Reaction } from '../../model/reactions.ts';

/**
 * Finds what changed for a user after a stamp, from the rows themselves: each carries the stamp of its newest
 * change, so there is no separate event log that could disagree. For rows that changed several times,
 * it returns the newest state.
 *
 * The caller gives an upper bound. A row that changed again after that bound, and therefore no longer shows the earlier change, is
 * omitted: live delivery covers the later change.
 */
export interface Changes {
	/** The user's own rows, without an upper bound: only the newest state of marks and follows matters. */
	own(user: string, since: number): Promise<OwnChanges>;
	/** Changes in the given conversations, except those that the user is not a member of; null if they exceed the limits. */
	inside(query: InsideQuery): Promise<InsideChanges | null>;
	/** Users who joined or left with `since` < stamp <= `upTo`, by stamp, in their current state; at most `limit`. */
	memberChanges(
		conversation: string,
		since: number,
		upTo: number,
		limit: number,
	): Promise<readonly MemberChange[]>;
}

export interface MemberChange {
	readonly user: string;
	readonly joined: boolean;
	readonly at: number;
}

/** A changed membership of the user. Each part has its own stamp; at least one is after `since`. */
export interface OwnMembership {
	readonly conversation: string;
	readonly member: boolean;
	readonly joinedTs: number;
	/** Stamp of joining, leaving or moving the cursor. */
	readonly changedTs: number;
	/** Stamp of muting or setting the notification level; 0 for never. */
	readonly preferredTs: number;
}

export interface OwnFollow {
	readonly conversation: string;
	readonly threadTs: number;
	readonly active: boolean;
	/** Stamp of when following began or ended. */
	readonly since: number;
	/** Stamp of when following began or ended, or the cursor moved. */
	readonly changedTs: number;
}

export interface OwnChanges {
	readonly memberships: readonly OwnMembership[];
	readonly follows: readonly OwnFollow[];
}

export interface InsideQuery {
	readonly user: string;
	/** Exclusive. In a conversation that the user joined later, the stamp of the join counts instead. */
	readonly since: number;
	/** Inclusive. */
	readonly upTo: number;
	/** Conversations to search. */
	readonly conversations: readonly string[];
	readonly most: {
		readonly changes: number;
		/** Limit for all texts together, to bound memory. */
		readonly bytes: number;
	};
}

/** A message posted since, in its current state; messages deleted since are omitted. */
export interface PostedMessage {
	readonly message: Message;
	/** The timeline message before it, for a client that processes changes in order; 0 for none. */
	readonly prevTs: number;
}

/** What can change about a conversation; `archive` includes unarchiving. */
export type Aspect = 'archive' | 'rename' | 'topic' | 'purpose';

export interface AspectChange {
	readonly conversation: string;
	readonly aspect: Aspect;
	readonly at: number;
	readonly actor: string;
}

/** A reaction that was added or removed. */
export interface ReactionChange {
	readonly conversation: string;
	/** ts and author of the message. */
	readonly ts: number;
	readonly author: string;
	readonly name: string;
	readonly user: string;
	readonly added: boolean;
	readonly at: number;
	/** Current summary of this emoji on this message; null if no user is left. */
	readonly current: Reaction | null;
}

/** A message that was pinned or unpinned. */
export interface PinChange {
	readonly conversation: string;
	/** ts, author and beginning of the text of the message. */
	readonly ts: number;
	readonly author: string;
	readonly text: string;
	readonly user: string;
	readonly added: boolean;
	readonly at: number;
	/** Current number of pins in the conversation. */
	readonly count: number;
}

export interface InsideChanges {
	readonly posted: readonly PostedMessage[];
	/** Older messages that were edited since, and all messages deleted since. */
	readonly changed: readonly Message[];
	readonly aspects: readonly AspectChange[];
	readonly reactions: readonly ReactionChange[];
	readonly pins: readonly PinChange[];
}
