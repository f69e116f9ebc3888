import { formatPosition } from '../model/position.ts';
import { formatTs } from '../model/ts.ts';
import type { JsonObject } from './objects.ts';

/**
 * An event with its subject. Two events with the same subject show the same thing at two times; the one with the
 * later `asOf` is current. This detects late and duplicate events without parsing their frames.
 */
export interface LiveEvent {
	/** The event as sockets receive it. */
	readonly wire: JsonObject;
	readonly conversation: string;
	/** The conversation, and the subject within it (`What`); equal only for events about the same thing. */
	readonly subject: string;
	/** The stamp of the shown state: a `message` event that is sent on resume includes later edits and has the stamp of the newest. */
	readonly asOf: number;
}

/** The possible subjects within a conversation. */
type What =
	/** One message: posted, edited or deleted. */
	| `message ${number}`
	/** A thread's summary: number of replies, latest reply. */
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
	/** The user's own membership; membership of others. */
	| 'membership'
	| `member ${string}`
	| 'members'
	| 'created'
	/** The user's cursor; muting and notification level. */
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

/** Kinds of subjects about a user's own state in a conversation, which begins when the user joins and ends when the user leaves. */
const OWN_STATE: ReadonlySet<string> = new Set(['follow', 'read', 'marked', 'preference']);

/** For a subject about a user's own state in a conversation: the subject of the user's membership there; null for other subjects. */
export function membershipOf(subject: string): string | null {
	const [conversation, kind = ''] = subject.split(' ', 2);
	return OWN_STATE.has(kind) ? `${conversation} membership` : null;
}

/** The fields of an event that carry the stamp of its change: as the time, and as the position of a client that received it. */
export const stamped = (at: number) => ({
	event_ts: formatTs(at),
	position: formatPosition(at),
});
