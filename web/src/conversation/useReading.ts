import type { Conversation } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLooking } from '../session/looking.ts';
import { tell } from '../session/toast.tsx';
import { changed, isToBeMarked, markedRead, mayRead, opened, type Reading } from './reading.ts';

/** Reads a conversation as its user does: see reading.ts for when. */

export interface ReadingOf {
	readonly anchor: string | null;
	/** Told by the view whenever what is in sight has changed. */
	see(sight: { readonly isAtNewest: boolean; readonly hasOldest: boolean }): void;
	markRead(): void;
}

const SIGNS_OF_LIFE = ['pointerdown', 'keydown', 'wheel'] as const;

export function useReading(conversation: Conversation | null): ReadingOf {
	const client = useClient();
	const isLooking = useLooking();
	const [reading, setReading] = useState<Reading | null>(() => conversation && opened(conversation));
	const [isAtNewest, setAtNewest] = useState(false);
	const underWay = useRef<string | null>(null);
	const isFollowing = isAtNewest && isLooking;

	useEffect(() => {
		if (!conversation) return;
		setReading((before) => (before ? changed(before, conversation, isFollowing) : opened(conversation)));
	}, [conversation, isFollowing]);

	useEffect(() => {
		if (!conversation || !reading || !isToBeMarked(reading, conversation, isFollowing)) return;
		// Once for the same newest message, however often this is drawn before the answer is there.
		const mark = `${conversation.revision} ${conversation.latest}`;
		if (underWay.current === mark) return;
		underWay.current = mark;
		client
			.conversation(conversation.id)
			.mark(conversation.latest)
			.catch(() => {
				underWay.current = null;
			});
	}, [client, conversation, reading, isFollowing]);

	const id = conversation?.id ?? null;
	const isFocused =
		isFollowing && conversation !== null && reading !== null && mayRead(reading, conversation);
	useEffect(() => {
		if (id === null || !isFocused) return;
		const store = client.conversation(id);
		const look = () => store.focus();
		look();
		for (const sign of SIGNS_OF_LIFE) addEventListener(sign, look, { passive: true, capture: true });
		return () => {
			for (const sign of SIGNS_OF_LIFE) removeEventListener(sign, look, { capture: true });
			store.blur();
		};
	}, [client, id, isFocused]);

	const see = useCallback((sight: { readonly isAtNewest: boolean; readonly hasOldest: boolean }) => {
		setAtNewest(sight.isAtNewest);
		if (sight.hasOldest)
			setReading((before) => (before && !before.hasSeenOldest ? { ...before, hasSeenOldest: true } : before));
	}, []);
	const markRead = useCallback(() => {
		if (!conversation) return;
		setReading((before) => before && markedRead(before, conversation));
		tell(client.conversation(conversation.id).mark());
	}, [client, conversation]);
	return { anchor: reading?.anchor ?? null, see, markRead };
}
