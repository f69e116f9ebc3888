import type { Reader } from '@tidemark/client';
import { useClient, useSelected, useThread } from '@tidemark/client/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Composer } from '../composer/Composer.tsx';
import { isNewAbove } from '../conversation/divider.ts';
import { timelineRows } from '../conversation/rows.ts';
import { Timeline, type TimelineHandle } from '../conversation/Timeline.tsx';
import { useIsSeenLive } from '../conversation/useReading.ts';
import type { VisibleRows } from '../conversation/visible-rows.ts';
import { lastEditable } from '../message/editing.ts';
import { titledName, useConversationName, useSelf } from '../session/names.ts';
import { closeThread, type ThreadRef } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { plural } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useReturningFocus } from './returning-focus.ts';
import { THREAD_OPENED, threadDividerAfterChange } from './thread-divider.ts';

/** A thread, beside the current view. */
export function ThreadPanel({ thread }: { readonly thread: ThreadRef }) {
	const { channel, ts } = thread;
	const client = useClient();
	const store = client.thread(channel, ts);
	const view = useThread(channel, ts);
	const self = useSelf();
	const conversation = useSelected(({ conversations }) => conversations.get(channel) ?? null);
	const name = useConversationName(conversation);
	const timeline = useRef<TimelineHandle>(null);
	useReturningFocus(ts);
	const { root, replies, isLoaded, isLoading, isFollowing, lastRead, unreadCount, hasMore, typing, error } =
		view;

	const [divider, setDivider] = useState(THREAD_OPENED);
	const [visible, setVisible] = useState({ first: 0, isAtEnd: false });
	const reader = useRef<Reader | null>(null);
	useEffect(() => {
		const made = store.reader();
		reader.current = made;
		return () => made.stop();
	}, [store]);

	const messages = useMemo(() => (root ? [root, ...replies] : replies), [root, replies]);
	const rows = useMemo(() => timelineRows(messages, divider.anchor, self), [messages, divider.anchor, self]);
	const onVisibleRows = useCallback(({ first, isAtEnd, onScreen }: VisibleRows) => {
		setVisible((before) =>
			before.first === first && before.isAtEnd === isAtEnd ? before : { first, isAtEnd },
		);
		reader.current?.onScreen(onScreen);
	}, []);
	const newest = replies.findLast(({ user }) => user !== self)?.ts ?? '';
	const isSeenLive = useIsSeenLive(visible.isAtEnd && !hasMore);
	const isAbove = isNewAbove({ hasUnreads: unreadCount > 0, lastRead }, rows.slice(root ? 1 : 0), {
		first: visible.first - (root ? 1 : 0),
		hasOlder: false,
		self,
	});
	useEffect(
		() =>
			setDivider((before) =>
				threadDividerAfterChange(before, { newest, unreadCount, lastRead, isSeenLive, isNewAbove: isAbove }),
			),
		[newest, unreadCount, lastRead, isSeenLive, isAbove],
	);
	// A thread opens at its oldest unread reply.
	const firstNew = rows.find(({ startsNew }) => startsNew)?.message.ts;
	const hasScrolled = useRef(false);
	useEffect(() => {
		if (hasScrolled.current || !isLoaded || !isFollowing) return;
		if (unreadCount === 0) hasScrolled.current = true;
		else if (firstNew !== undefined) hasScrolled.current = timeline.current?.scrollTo(firstNew) ?? false;
	}, [isLoaded, isFollowing, unreadCount, firstNew]);

	return (
		<aside
			className="thread-panel"
			aria-label="Thread"
			onKeyDown={(event) => {
				if (event.key !== 'Escape' || event.shiftKey || event.defaultPrevented) return;
				if (document.querySelector('dialog[open], [popover]:popover-open')) return;
				// Esc inside the thread marks the thread read, not the conversation.
				event.preventDefault();
				event.stopPropagation();
				if (isFollowing && unreadCount > 0) toastResult(store.mark());
				closeThread();
			}}
		>
			<header className="pane-head">
				<div className="pane-title">
					<h1>Thread</h1>
					<p>{titledName(conversation, name)}</p>
				</div>
				<button
					type="button"
					className="button small"
					aria-pressed={isFollowing}
					onClick={() => toastResult(isFollowing ? store.unfollow() : store.follow())}
				>
					{isFollowing ? 'Following' : 'Follow'}
				</button>
				<IconButton icon="close" label="Close thread" onClick={closeThread} />
			</header>
			<div className="timeline-place">
				{!isLoaded && isLoading && <Loading label="Loading the thread" lines={3} />}
				{!isLoaded && error && <Failed error={error} onRetry={() => toastResult(store.load())} />}
				{isLoaded && !root && replies.length === 0 && (
					<Empty icon="thread" title="This thread was deleted">
						Close this panel to go back to the conversation.
					</Empty>
				)}
				{isLoaded && messages.length > 0 && (
					<Timeline
						ref={timeline}
						label={plural(replies.length, 'reply', 'replies')}
						rows={rows}
						top={null}
						below={replies.length > 0 && <RepliesDivider count={root?.replyCount ?? replies.length} />}
						isInThread
						onVisibleRows={onVisibleRows}
						onNearEnd={() => hasMore && !isLoading && toastResult(store.loadMore())}
					/>
				)}
			</div>
			<Composer
				// Drafts are stored per user, and the user is known a moment after the conversations.
				key={self}
				channel={channel}
				threadTs={ts}
				label="Reply in thread"
				typing={typing}
				isFocused
				onSent={() => timeline.current?.scrollToEnd()}
				onBack={() => {
					timeline.current?.focusCurrent();
					return timeline.current !== null;
				}}
				onUp={() => {
					const mine = lastEditable(replies, self);
					if (mine) timeline.current?.edit(mine.ts);
					else timeline.current?.focusLast();
				}}
			/>
		</aside>
	);
}

/** The line between the root and the replies. */
const RepliesDivider = ({ count }: { readonly count: number }) => (
	<p className="replies-divider">
		<span>{plural(count, 'reply', 'replies')}</span>
	</p>
);
