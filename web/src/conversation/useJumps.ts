import { useClient } from '@tidemark/client/react';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { toastResult } from '../session/toast.tsx';
import type { TimelineRow } from './rows.ts';
import type { TimelineHandle } from './Timeline.tsx';

/** Jumps in a conversation: to the message of a link, to the oldest unread message, and to the newest message. */

export interface Jumps {
	/** The message that the last jump went to; null after a jump to the newest one. */
	readonly target: string | null;
	toNewest(): Promise<void>;
	toOldestUnread(): Promise<void>;
}

interface Options {
	readonly id: string;
	/** The message in the address. */
	readonly at: string | null;
	readonly rows: readonly TimelineRow[];
	readonly timeline: RefObject<TimelineHandle | null>;
	/** Moves the divider above the oldest unread message. */
	readonly moveDivider: () => void;
}

export function useJumps({ id, at, rows, timeline, moveDivider }: Options): Jumps {
	const client = useClient();
	const store = client.conversation(id);
	const [target, setTarget] = useState<string | null>(at);
	// Scroll to the target only once: later pages must not move a user who has scrolled elsewhere.
	const reached = useRef<string | null>(null);
	const loadAndShow = useCallback(
		async (ts: string) => {
			await store.jumpTo(ts);
			reached.current = null;
			setTarget(ts);
		},
		[store],
	);
	useEffect(() => {
		if (at) toastResult(loadAndShow(at));
	}, [at, loadAndShow]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: runs again when other messages are loaded
	useEffect(() => {
		if (target && reached.current !== target && timeline.current?.scrollTo(target)) reached.current = target;
	}, [target, rows]);

	const toNewest = async () => {
		setTarget(null);
		await store.jumpToLatest();
		requestAnimationFrame(() => timeline.current?.scrollToEnd());
	};
	const toOldestUnread = async () => {
		const { oldest_unread: oldest } = await client.call('conversations.unreads', { channel: id, limit: 1 });
		if (!oldest) return;
		moveDivider();
		reached.current = null;
		setTarget(oldest);
		if (!timeline.current?.scrollTo(oldest)) await loadAndShow(oldest);
	};
	return { target, toNewest, toOldestUnread };
}
