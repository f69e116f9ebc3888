import type { Reader } from '@tidemark/client';
import { useClient, useSelected, useThread } from '@tidemark/client/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Composer } from '../composer/Composer.tsx';
import { timelineRows } from '../conversation/rows.ts';
import { Timeline, type TimelineHandle } from '../conversation/Timeline.tsx';
import type { VisibleRows } from '../conversation/visible-rows.ts';
import { lastEditable } from '../message/editing.ts';
import { titledName, useConversationName, useSelf } from '../session/names.ts';
import { closeThread, type ThreadRef } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { plural } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useReturningFocus } from './returning-focus.ts';

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

	// The divider is after this message: the cursor at the time when the thread was opened or marked unread.
	const [anchor, setAnchor] = useState<string | null>(null);
	const before = useRef({ unread: 0, lastRead: '' });
	useEffect(() => {
		const isMarkedUnread = lastRead < before.current.lastRead;
		if (unreadCount > 0 && (before.current.unread === 0 || isMarkedUnread)) setAnchor(lastRead);
		before.current = { unread: unreadCount, lastRead };
	}, [unreadCount, lastRead]);
	const reader = useRef<Reader | null>(null);
	useEffect(() => {
		const made = store.reader();
		reader.current = made;
		return () => made.stop();
	}, [store]);

	const messages = useMemo(() => (root ? [root, ...replies] : replies), [root, replies]);
	const rows = useMemo(() => timelineRows(messages, anchor, self), [messages, anchor, self]);
	const onVisibleRows = useCallback(({ onScreen }: VisibleRows) => reader.current?.onScreen(onScreen), []);
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
