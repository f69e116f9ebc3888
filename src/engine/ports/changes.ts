import type { Message } from '../../model/message.ts';
import type { Reaction } from '../../model/reactions.ts';

/**
 * What changed for a user after a stamp, read from the rows themselves: each carries the stamp of its newest
 * change, so there is no second record of events that could disagree with them. Of what changed several times
 * the newest state is sent.
 *
 * Whoever asks says up to which stamp. What changed again after it is left out wherever the row no longer
 * shows what it was: its later change is delivered live.
 */
export interface Changes {
	/** The user's own rows, with no upper bound: theirs are marks and follows, of which the newest counts. */
	own(user: string, since: number): Promise<OwnChanges>;
	/** What happened in these conversations, as far as the user is in them; null when it is over the limits. */
	inside(query: InsideQuery): Promise<InsideChanges | null>;
	/** Who joined or left the conversation with `since` < stamp <= `upTo`, by stamp; as they are now, and at most so many. */
	people(conversation: string, since: number, upTo: number, limit: number): Promise<readonly PersonChange[]>;
}

export interface PersonChange {
	readonly user: string;
	readonly joined: boolean;
	readonly at: number;
}

/** A membership and read position. Each part has a stamp of its own; one of them is after the stamp asked for. */
export interface OwnMembership {
	readonly conversation: string;
	readonly member: boolean;
	readonly joinedTs: number;
	/** When it was joined or left, or its cursor moved. */
	readonly changedTs: number;
	/** When it was muted or its notification level set; 0 for never. */
	readonly preferredTs: number;
}

export interface OwnFollow {
	readonly conversation: string;
	readonly threadTs: number;
	readonly active: boolean;
	/** When it began, or ended. */
	readonly since: number;
	/** When it began or ended, or its cursor moved. */
	readonly changedTs: number;
}

export interface OwnChanges {
	readonly memberships: readonly OwnMembership[];
	readonly follows: readonly OwnFollow[];
}

export interface InsideQuery {
	readonly user: string;
	/** Exclusive; where the user joined later, from there on. */
	readonly since: number;
	/** Inclusive. */
	readonly upTo: number;
	/** Where to look. */
	readonly conversations: readonly string[];
	readonly most: {
		readonly changes: number;
		/** Of all texts together: a bound on memory. */
		readonly bytes: number;
	};
}

/** A message posted since, as it is now; those deleted again are left out. */
export interface PostedMessage {
	readonly message: Message;
	/** The timeline message before it, as a client that follows the changes in order knows the timeline; 0 for none. */
	readonly prevTs: number;
}

/** What can change about a conversation: archive stands for unarchive too. */
export type Aspect = 'archive' | 'rename' | 'topic' | 'purpose';

export interface AspectChange {
	readonly conversation: string;
	readonly aspect: Aspect;
	readonly at: number;
	readonly actor: string;
}

/** A reaction that was added or taken back. */
export interface ReactionChange {
	readonly conversation: string;
	/** The message, and who wrote it. */
	readonly ts: number;
	readonly author: string;
	readonly name: string;
	readonly user: string;
	readonly added: boolean;
	readonly at: number;
	/** This emoji on this message as it is now; null: nobody is left. */
	readonly current: Reaction | null;
}

/** A message that was pinned, or taken down. */
export interface PinChange {
	readonly conversation: string;
	/** The message, who wrote it, and the beginning of what it says. */
	readonly ts: number;
	readonly author: string;
	readonly text: string;
	readonly user: string;
	readonly added: boolean;
	readonly at: number;
	/** Pins of the conversation now. */
	readonly count: number;
}

export interface InsideChanges {
	readonly posted: readonly PostedMessage[];
	/** Messages from before that were edited since, and all that were deleted since. */
	readonly changed: readonly Message[];
	readonly aspects: readonly AspectChange[];
	readonly reactions: readonly ReactionChange[];
	readonly pins: readonly PinChange[];
}
