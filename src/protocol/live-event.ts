import type { JsonObject } from './objects.ts';

/**
 * An event with what it is about. Two events of the same subject show the same thing at two times, and the one with the
 * later `asOf` is how it stands: by that, events that arrive late or twice are recognised without parsing their frames.
 */
export interface LiveEvent {
	/** As sockets receive it. */
	readonly wire: JsonObject;
	readonly conversation: string;
	/** Opaque; the same for all events about the same thing, and different for all others. */
	readonly subject: string;
	/** The stamp that it shows its subject at: a message that is sent after an edit has the newer text. */
	readonly asOf: number;
}

/** What in a conversation an event can be about. */
type What =
	/** One message: posted, edited or deleted. */
	| `message ${number}`
	/** How a thread looks from outside: number of replies, the latest one. */
	| `thread ${number}`
	/** A file of a message: shared with it, or deleted. */
	| `file ${number} ${string}`
	/** Whether a message is pinned. */
	| `pin ${number}`
	/** Whether a user reacts to a message with an emoji. */
	| `reaction ${number} ${string} ${string}`
	/** Whether the user follows a thread; how far the user has read it. */
	| `follow ${number}`
	| `read ${number}`
	/** Whether the user is in it; whether others are. */
	| 'membership'
	| `member ${string}`
	| 'members'
	| 'created'
	/** The user's read position, and muting with the notification level. */
	| 'marked'
	| 'preference'
	| 'archive'
	| 'rename'
	| 'topic'
	| 'purpose';

export const liveEvent = (conversation: string, what: What, asOf: number, wire: JsonObject): LiveEvent => ({
	wire,
	conversation,
	subject: `${conversation} ${what}`,
	asOf,
});
