import type { Conversation, Reader } from '@tidemark/client';
import { useClient, useConnection } from '@tidemark/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useIsAttentive } from '../session/attention.ts';
import { toastResult } from '../session/toast.tsx';
import {
	type DividerState,
	dividerAfterChange,
	dividerAfterMarkRead,
	dividerAtOldestUnread,
	dividerOnOpen,
	isMarkedUnread,
} from './divider.ts';
import { forgetUnread, isKeptUnread, keepUnread } from './kept-unread.ts';

/** Marks messages as the user reads them: the SDK's reader marks seen messages, divider.ts places the divider. */

export interface Reading {
	/** The divider is after this message. Null: no divider. */
	readonly anchor: string | null;
	/** New messages are read as they arrive: the user is attentive, the newest message is visible, and nothing was marked unread. */
	readonly isReadingNewest: boolean;
	/** Call it whenever the visible messages change. */
	see(visible: { readonly isAtNewest: boolean; readonly onScreen: readonly string[] }): void;
	markRead(): void;
	/** Moves the divider above the oldest unread message. */
	moveDivider(): void;
}

/** Whether the user sees new messages arrive. `isAtNewest`: the newest message is on screen. */
export function useIsSeenLive(isAtNewest: boolean): boolean {
	const isAttentive = useIsAttentive();
	const isOnline = useConnection().status === 'online';
	return isAtNewest && isAttentive && isOnline;
}

export function useReading(conversation: Conversation | null): Reading {
	const client = useClient();
	const [divider, setDivider] = useState<DividerState | null>(
		() => conversation && dividerOnOpen(conversation, isKeptUnread(conversation)),
	);
	const [isAtNewest, setAtNewest] = useState(false);
	const isSeenLive = useIsSeenLive(isAtNewest);

	useEffect(() => {
		if (!conversation) return;
		setDivider((before) =>
			before ? dividerAfterChange(before, conversation, isSeenLive) : dividerOnOpen(conversation),
		);
	}, [conversation, isSeenLive]);

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
			// Runs when the user opens another conversation, not when the page is reloaded.
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
		setDivider((before) => before && dividerAfterMarkRead(before, conversation));
		reader.current?.resume();
		toastResult(client.conversation(conversation.id).mark());
	}, [client, conversation]);
	const moveDivider = useCallback(() => {
		if (conversation) setDivider((before) => before && dividerAtOldestUnread(before, conversation));
	}, [conversation]);
	const staysUnread = conversation !== null && divider !== null && isMarkedUnread(divider, conversation);
	useEffect(() => {
		if (conversation && staysUnread && conversation.hasUnreads) keepUnread(conversation);
		else if (!staysUnread) forgetUnread();
	}, [conversation, staysUnread]);
	const isReadingNewest = isSeenLive && conversation !== null && divider !== null && !staysUnread;
	return { anchor: divider?.anchor ?? null, isReadingNewest, see, markRead, moveDivider };
}
