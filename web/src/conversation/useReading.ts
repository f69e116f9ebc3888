import type { Conversation, Reader } from '@tidemark/client';
import { useClient, useConnection } from '@tidemark/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useIsThere } from '../session/attention.ts';
import { showToast } from '../session/toast.tsx';
import { forgetUnread, isKeptUnread, keepUnread } from './kept-unread.ts';
import { changed, dividedAt, markedRead, mayRead, opened, type ReadingState } from './reading.ts';

/** Marks a conversation as the user reads it: the SDK's reader marks seen messages, reading.ts places the divider. */

export interface ReadingOf {
	readonly anchor: string | null;
	/** New messages are being read: the user is looking, the newest message is visible, and nothing was marked unread. */
	readonly isFollowing: boolean;
	/** Called by the view whenever other messages are visible. */
	see(sight: { readonly isAtNewest: boolean; readonly onScreen: readonly string[] }): void;
	markRead(): void;
	/** The divider goes above the oldest unread message. */
	divide(): void;
}

export function useReading(conversation: Conversation | null): ReadingOf {
	const client = useClient();
	const isThere = useIsThere();
	const isOnline = useConnection().status === 'online';
	const [reading, setReading] = useState<ReadingState | null>(
		() => conversation && opened(conversation, isKeptUnread(conversation)),
	);
	const [isAtNewest, setAtNewest] = useState(false);
	const isInSight = isAtNewest && isThere && isOnline;

	useEffect(() => {
		if (!conversation) return;
		setReading((before) => (before ? changed(before, conversation, isInSight) : opened(conversation)));
	}, [conversation, isInSight]);

	const id = conversation?.id ?? null;
	const reader = useRef<Reader | null>(null);
	const onScreen = useRef<readonly string[]>([]);
	useEffect(() => {
		if (id === null) return;
		const made = client.conversation(id).reader();
		reader.current = made;
		const { conversation: now } = client.conversation(id).getSnapshot();
		if (now && isKeptUnread(now)) made.pause();
		made.onScreen(onScreen.current);
		return () => {
			reader.current = null;
			made.stop();
			// The user opened another conversation; the page was not reloaded.
			forgetUnread();
		};
	}, [client, id]);

	const see = useCallback((sight: { readonly isAtNewest: boolean; readonly onScreen: readonly string[] }) => {
		setAtNewest(sight.isAtNewest);
		onScreen.current = sight.onScreen;
		reader.current?.onScreen(sight.onScreen);
	}, []);
	const markRead = useCallback(() => {
		if (!conversation) return;
		setReading((before) => before && markedRead(before, conversation));
		reader.current?.resume();
		showToast(client.conversation(conversation.id).mark());
	}, [client, conversation]);
	const divide = useCallback(() => {
		if (conversation) setReading((before) => before && dividedAt(before, conversation));
	}, [conversation]);
	const isMarkedUnread = conversation !== null && reading !== null && !mayRead(reading, conversation);
	useEffect(() => {
		if (conversation && isMarkedUnread && conversation.hasUnreads) keepUnread(conversation);
		else if (!isMarkedUnread) forgetUnread();
	}, [conversation, isMarkedUnread]);
	const isFollowing =
		isInSight && conversation !== null && reading !== null && mayRead(reading, conversation);
	return { anchor: reading?.anchor ?? null, isFollowing, see, markRead, divide };
}
