import type { Message } from '../types.ts';

/**
 * Which marks follow from what was seen. Pure.
 *
 * The read position moves over messages that were all seen, and never over one that was not. A seen message beyond an unseen
 * one is marked by itself, so that what was skipped stays unread.
 */

export interface Stretch {
	/** An unbroken stretch of the conversation or thread, oldest first. */
	readonly messages: readonly Message[];
	/** There are messages before the stretch. */
	readonly hasOlder: boolean;
	readonly lastRead: string;
	/** The reader: own messages count as read. */
	readonly self: string;
}

export interface DueMarks {
	/** Everything up to this message was seen; null: the read position stays. */
	readonly upTo: string | null;
	/** Seen beyond a gap. */
	readonly single: readonly string[];
}

export function dueMarks(
	seen: ReadonlySet<string>,
	{ messages, hasOlder, lastRead, self }: Stretch,
): DueMarks {
	const single: string[] = [];
	let upTo: string | null = null;
	// Where the stretch begins after the read position, there is something in between that nobody saw.
	let isUnbroken = !hasOlder || (messages[0]?.ts ?? '') <= lastRead;
	for (const { ts, user, status, isTombstone } of messages) {
		if (ts <= lastRead || status !== 'sent' || user === self || isTombstone) continue;
		if (!seen.has(ts)) isUnbroken = false;
		else if (isUnbroken) upTo = ts;
		else single.push(ts);
	}
	return { upTo, single };
}
