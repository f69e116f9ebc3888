import type { Conversation } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useRef } from 'react';
import { inTurn } from './in-turn.ts';
import { notificationState } from './subscribing.ts';

/**
 * Removes notifications of messages that are read here at once. The server withdraws them as well, but not from Safari, which
 * cancels subscriptions that receive silent messages.
 */

/** The data that the service worker stores with a notification. */
interface Shown {
	readonly channel: string;
	readonly ts: string;
	readonly thread_ts?: string;
}

/** A reply is read in its thread, whose cursor is not loaded here. */
export const isRead = (
	{ channel, ts, thread_ts: root }: Shown,
	conversations: ReadonlyMap<string, Pick<Conversation, 'lastRead'>>,
): boolean => root === undefined && (conversations.get(channel)?.lastRead ?? '') >= ts;

export function useTidyNotifications(): void {
	const client = useClient();
	const conversations = useSelected((snapshot) => snapshot.conversations);
	const before = useRef(conversations);
	useEffect(() => {
		const earlier = before.current;
		before.current = conversations;
		// At the start, and whenever something was read.
		const isWanted =
			earlier.size === 0 ||
			[...conversations.values()].some(
				({ id, lastRead }) => lastRead > (earlier.get(id)?.lastRead ?? lastRead),
			);
		if (isWanted && notificationState(client) === 'on')
			void inTurn(() => closeRead(conversations)).catch(() => undefined);
	}, [client, conversations]);
}

async function closeRead(conversations: ReadonlyMap<string, Conversation>): Promise<void> {
	const registration = await navigator.serviceWorker.getRegistration('/');
	for (const notification of (await registration?.getNotifications()) ?? [])
		if (notification.data && isRead(notification.data as Shown, conversations)) notification.close();
}
