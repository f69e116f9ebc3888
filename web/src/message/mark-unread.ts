import type { Message } from '@tidemark/client';

/**
 * The first unread message when a message is marked unread. The user's own messages are never unread: for one of them, it is the
 * next message of somebody else. Null: there is none.
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

export const NOTHING_TO_MARK = 'There is nothing to mark unread: no one else has written since this message.';
