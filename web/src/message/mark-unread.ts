import type { Message } from '@tidemark/client';

/**
 * The message from which to mark unread. That is the given message, or, because a user's own messages are never unread, the next
 * message by another user. Null if there is none.
 */
export function unreadFrom(messages: readonly Message[], ts: string, self: string): string | null {
	const marked = messages.find((message) => message.ts === ts);
	if (marked?.user !== self) return ts;
	const next = messages.find(
		(message) =>
			message.ts > ts && message.user !== self && message.status === 'sent' && !message.isTombstone,
	);
	return next?.ts ?? null;
}

export const NOTHING_TO_MARK = 'There is nothing to mark unread: nobody else has written since this message.';
