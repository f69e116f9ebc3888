import type { Message } from '../types.ts';

/**
 * Derives marks from the seen messages. Pure.
 *
 * The cursor moves over messages that were all seen, never over an unseen one. A seen message after an unseen one
 * is marked separately, so that skipped messages stay unread.
 */

export interface Stretch {
	/** A contiguous part of the conversation or thread, oldest first. */
	readonly messages: readonly Message[];
	/** Earlier messages exist that are not loaded. */
	readonly hasOlder: boolean;
	readonly lastRead: string;
	/** The user's id: the user's own messages count as read. */
	readonly self: string;
}

export interface DueMarks {
	/** Mark everything up to this message; null: the cursor stays. */
	readonly upTo: string | null;
	/** Messages to mark separately: seen, but after an unseen one. */
	readonly single: readonly string[];
}

export function dueMarks(
	seen: ReadonlySet<string>,
	{ messages, hasOlder, lastRead, self }: Stretch,
): DueMarks {
	const single: string[] = [];
	let upTo: string | null = null;
	// If the loaded part begins after the cursor, there are unseen messages in between.
	let isUnbroken = !hasOlder || (messages[0]?.ts ?? '') <= lastRead;
	for (const { ts, user, status, isTombstone } of messages) {
		if (ts <= lastRead || status !== 'sent' || user === self || isTombstone) continue;
		if (!seen.has(ts)) isUnbroken = false;
		else if (isUnbroken) upTo = ts;
		else single.push(ts);
	}
	return { upTo, single };
}
