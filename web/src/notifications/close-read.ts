import type { Conversation } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useRef } from 'react';
import { withNotificationLock } from './notification-lock.ts';
import { notificationState } from './subscribing.ts';

/**
 * Closes the notifications of messages that the user reads in this page. The server withdraws them too, but later, and not from
 * Safari, which cancels subscriptions that receive silent pushes.
 */

/** The data that the service worker stores with a notification. */
interface NotificationData {
	readonly channel: string;
	readonly ts: string;
	readonly thread_ts?: string;
}

/** False for a reply: it is read in its thread, whose cursor is not loaded here. */
export const isRead = (
	{ channel, ts, thread_ts: root }: NotificationData,
	conversations: ReadonlyMap<string, Pick<Conversation, 'lastRead'>>,
): boolean => root === undefined && (conversations.get(channel)?.lastRead ?? '') >= ts;

export function useCloseReadNotifications(): void {
	const client = useClient();
	const conversations = useSelected((snapshot) => snapshot.conversations);
	const before = useRef(conversations);
	useEffect(() => {
		const earlier = before.current;
		before.current = conversations;
		// Runs at the start, and whenever a cursor has moved forward.
		const isDue =
			earlier.size === 0 ||
			[...conversations.values()].some(
				({ id, lastRead }) => lastRead > (earlier.get(id)?.lastRead ?? lastRead),
			);
		if (isDue && notificationState(client) === 'on')
			void withNotificationLock(() => closeRead(conversations)).catch(() => undefined);
	}, [client, conversations]);
}

async function closeRead(conversations: ReadonlyMap<string, Conversation>): Promise<void> {
	const registration = await navigator.serviceWorker.getRegistration('/');
	for (const notification of (await registration?.getNotifications()) ?? [])
		if (notification.data && isRead(notification.data as NotificationData, conversations))
			notification.close();
}
