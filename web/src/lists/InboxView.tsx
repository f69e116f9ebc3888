import { useClient, useInbox, useSelected } from '@tidemark/client/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { DialogName } from '../dialogs/Dialogs.tsx';
import { formatRoute, toScreen } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { isUnread } from '../sidebar/sections.ts';
import { plural } from '../ui/format.ts';
import { PaneHead } from '../ui/PaneHead.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { InboxItem } from './InboxItem.tsx';

const ITEM_HEIGHT = 73;
const NEAR_END = 10;

/** Every conversation by latest activity, with its newest message. */
export function InboxView({ onDialog }: { readonly onDialog: (name: DialogName) => void }) {
	const client = useClient();
	const isReady = useSelected((snapshot) => snapshot.isReady);
	const inbox = useInbox();
	const threads = useSelected((snapshot) => snapshot.threads);
	const [isOnlyUnread, setOnlyUnread] = useState(false);
	const unread = useMemo(() => inbox.filter(isUnread), [inbox]);
	const hasUnreads = unread.length > 0 || threads.hasUnreads;
	const shown = isOnlyUnread ? unread : inbox;
	const list = useRef<VirtualizerHandle>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const isLoading = useRef(false);

	const loadNear = () => {
		const handle = list.current;
		if (!handle || isLoading.current) return;
		const last = handle.findItemIndex(handle.scrollOffset + handle.viewportSize) + NEAR_END;
		const isMissing = shown.slice(0, last).some(({ preview, latest }) => !preview && Number(latest) > 0);
		if (!isMissing) return;
		isLoading.current = true;
		client.inbox
			.loadPreviews()
			.catch(() => undefined)
			.finally(() => {
				isLoading.current = false;
			});
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: other rows are visible when the list changes
	useEffect(loadNear, [shown]);

	return (
		<main className="pane" aria-label="Inbox">
			<PaneHead
				title="Inbox"
				about={
					<>
						{!hasUnreads && 'Everything is read'}
						{unread.length > 0 && `${plural(unread.length, 'conversation')} unread`}
						{unread.length > 0 && threads.hasUnreads && ', '}
						{threads.hasUnreads && <UnreadReplies count={threads.unreadCount} />}
					</>
				}
			>
				<label className="switch">
					<input
						type="checkbox"
						checked={isOnlyUnread}
						onChange={({ target }) => setOnlyUnread(target.checked)}
					/>
					Unread only
				</label>
				<button
					type="button"
					className="button small"
					disabled={!hasUnreads}
					onClick={() => toastResult(client.markAll(), 'Everything is marked as read.')}
				>
					Mark all as read
				</button>
			</PaneHead>
			<div className="scroller" ref={scroller}>
				{!isReady && <Loading />}
				{isReady && shown.length === 0 && (
					<Empty
						icon="inbox"
						title={emptyTitle(isOnlyUnread, hasUnreads)}
						actions={
							isOnlyUnread ? undefined : (
								<>
									<button type="button" className="button primary" onClick={() => onDialog('new')}>
										Find or create a channel
									</button>
									<button type="button" className="button" onClick={() => onDialog('switcher')}>
										Write to someone
									</button>
								</>
							)
						}
					>
						{isOnlyUnread
							? threads.hasUnreads && <UnreadReplies count={threads.unreadCount} />
							: 'Join a channel, create one, or write to someone.'}
					</Empty>
				)}
				<Virtualizer ref={list} scrollRef={scroller} data={shown} itemSize={ITEM_HEIGHT} onScroll={loadNear}>
					{(conversation) => <InboxItem key={conversation.id} conversation={conversation} />}
				</Virtualizer>
			</div>
		</main>
	);
}

const emptyTitle = (isOnlyUnread: boolean, hasUnreads: boolean): string => {
	if (!isOnlyUnread) return 'No conversations yet';
	return hasUnreads ? 'No unread conversations' : 'You’re all caught up';
};

/** A link to Threads: replies count in their threads, not in the listed conversations. */
const UnreadReplies = ({ count }: { readonly count: number }) => (
	<a href={formatRoute(toScreen('threads'))}>{plural(count, 'unread reply', 'unread replies')} in Threads</a>
);
