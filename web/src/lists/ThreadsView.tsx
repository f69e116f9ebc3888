import type { ThreadSummary } from '@tidemark/client';
import { useClient, useSelected, useThreads } from '@tidemark/client/react';
import { MessageRow } from '../message/MessageRow.tsx';
import { titledName, useConversationName } from '../session/names.ts';
import { openThread } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { plural } from '../ui/format.ts';
import { PaneHead } from '../ui/PaneHead.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';

/** The threads that the user follows, newest activity first. */
export function ThreadsView() {
	const client = useClient();
	const { threads, isLoaded, isLoading, hasMore, error } = useThreads();
	const totals = useSelected((snapshot) => snapshot.threads);
	return (
		<main className="pane" aria-label="Threads">
			<PaneHead
				title="Threads"
				about={
					totals.unreadCount === 0
						? 'Everything is read'
						: plural(totals.unreadCount, 'unread reply', 'unread replies')
				}
			>
				<button
					type="button"
					className="button small"
					disabled={!totals.hasUnreads}
					onClick={() => toastResult(client.threads.markAll())}
				>
					Mark all as read
				</button>
			</PaneHead>
			<div className="scroller">
				{!isLoaded && isLoading && <Loading />}
				{!isLoaded && error && <Failed error={error} onRetry={() => toastResult(client.threads.load())} />}
				{isLoaded && threads.length === 0 && (
					<Empty icon="thread" title="No threads yet">
						You follow a thread when you start it, reply in it, or someone mentions you by name in a reply.
					</Empty>
				)}
				<ul className="thread-cards">
					{threads.map((thread) => (
						<ThreadCard key={`${thread.channel} ${thread.threadTs}`} thread={thread} />
					))}
				</ul>
				{hasMore && (
					<div className="buttons centred">
						<button type="button" className="button" onClick={() => toastResult(client.threads.loadMore())}>
							Show more
						</button>
					</div>
				)}
			</div>
		</main>
	);
}

const SHOWN_REPLIES = 2;

function ThreadCard({ thread }: { readonly thread: ThreadSummary }) {
	const conversation = useSelected(({ conversations }) => conversations.get(thread.channel) ?? null);
	const name = useConversationName(conversation);
	const shown = (thread.unreadCount > 0 ? thread.unreadReplies : thread.latestReplies).slice(-SHOWN_REPLIES);
	return (
		<li className={`thread-card ${thread.unreadCount > 0 ? 'unread' : ''}`}>
			<header>
				<strong>{titledName(conversation, name)}</strong>
				{thread.unreadCount > 0 && (
					<span className="inbox-count">{plural(thread.unreadCount, 'new reply', 'new replies')}</span>
				)}
				<button
					type="button"
					className="button small"
					onClick={() => openThread(thread.channel, thread.threadTs)}
				>
					Open thread
				</button>
			</header>
			{[thread.root, ...shown].map((message) => (
				<MessageRow
					key={message.ts}
					message={message}
					isContinued={false}
					isInThread
					isTabStop={false}
					showsThread={false}
				/>
			))}
		</li>
	);
}
