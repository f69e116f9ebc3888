import { useClient, useConversation } from '@tidemark/client/react';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Composer } from '../composer/Composer.tsx';
import { lastEditable } from '../message/editing.ts';
import { markUnread } from '../message/MessageActions.tsx';
import { useHotkey } from '../session/hotkeys.ts';
import { isChannel, titledName, useConversationName, useSelf } from '../session/names.ts';
import { openThread, type Route } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Announcer } from './Announcer.tsx';
import { Beginning } from './Beginning.tsx';
import { ConversationHead } from './ConversationHead.tsx';
import { countNewBelow, isNewAbove } from './divider.ts';
import { NewBar } from './NewBar.tsx';
import { timelineRows } from './rows.ts';
import { Timeline, type TimelineHandle } from './Timeline.tsx';
import { UnlistedConversation } from './UnlistedConversation.tsx';
import { useJumps } from './useJumps.ts';
import { useReading } from './useReading.ts';
import type { VisibleRows } from './visible-rows.ts';

const newerOf = (one: string, other: string): string => (one > other ? one : other);

const NOTHING_VISIBLE: VisibleRows = { first: 0, last: 0, isAtEnd: false, onScreen: [] };

/** The open conversation: head, timeline and composer; marks messages as the user reads them. */
export function ConversationView({ route }: { readonly route: Route }) {
	const { id, at } = route;
	const client = useClient();
	const store = client.conversation(id);
	const view = useConversation(id);
	const { conversation, messages, hasOlder, hasNewer, isLoaded, isLoading, typing, error } = view;
	const self = useSelf();
	const name = useConversationName(conversation);
	const { anchor, isReadingNewest, see, markRead, moveDivider } = useReading(conversation);
	const timeline = useRef<TimelineHandle>(null);
	const [visible, setVisible] = useState(NOTHING_VISIBLE);
	const rows = useMemo(() => timelineRows(messages, anchor, self), [messages, anchor, self]);
	const { target, toNewest, toOldestUnread } = useJumps({ id, at, rows, timeline, moveDivider });

	const onVisibleRows = useCallback(
		(now: VisibleRows) => {
			setVisible((before) =>
				before.first === now.first &&
				before.last === now.last &&
				before.isAtEnd === now.isAtEnd &&
				before.onScreen.at(-1) === now.onScreen.at(-1)
					? before
					: now,
			);
			see({ isAtNewest: now.isAtEnd && !hasNewer, onScreen: now.onScreen });
		},
		[see, hasNewer],
	);

	useHotkey('Escape', markRead);

	const onKey = (
		event: KeyboardEvent,
		message: { readonly ts: string; readonly threadTs: string | null },
	) => {
		if (event.ctrlKey || event.metaKey || !message.ts) return;
		const key = event.key.toLowerCase();
		if (key === 'u') markUnread(client, id, message.ts);
		else if (key === 'r') openThread(id, message.threadTs ?? message.ts);
		else return;
		event.preventDefault();
	};

	const newestSeen = useRef('');
	newestSeen.current = newerOf(newestSeen.current, visible.onScreen.at(-1) ?? '');
	const newBelow =
		hasNewer || !conversation
			? 0
			: countNewBelow(conversation, rows, { newestSeen: newestSeen.current, self });
	const isAbove =
		conversation !== null && isNewAbove(conversation, rows, { first: visible.first, hasOlder, self });
	// More messages arrived than fit on the screen: a divider shows where they start.
	useEffect(() => {
		if (isAbove && anchor === null) moveDivider();
	}, [isAbove, anchor, moveDivider]);

	if (!conversation) return <UnlistedConversation id={id} messages={messages} />;
	// Messages that the user is reading now need no bar.
	const hasNewBar = conversation.hasUnreads && (isAbove || !isReadingNewest);
	return (
		<main className="pane" aria-label={name}>
			<ConversationHead conversation={conversation} name={name} onMarkRead={markRead} />
			{hasNewBar && (
				<NewBar
					conversation={conversation}
					isAbove={isAbove}
					onJump={() => toastResult(toOldestUnread())}
					onMarkRead={markRead}
				/>
			)}
			<div className="timeline-place" aria-busy={isLoading}>
				{!isLoaded && isLoading && <Loading label="Loading messages" />}
				{!isLoaded && error && <Failed error={error} onRetry={() => toastResult(store.load())} />}
				{isLoaded && messages.length === 0 && (
					<Empty icon="thread" title="No messages yet">
						Write the first message {isChannel(conversation) ? 'in' : 'to'} {titledName(conversation, name)}.
					</Empty>
				)}
				{isLoaded && messages.length > 0 && (
					<Timeline
						ref={timeline}
						label={`Messages in ${name}`}
						rows={rows}
						top={hasOlder ? null : <Beginning conversation={conversation} name={name} />}
						highlighted={target}
						onVisibleRows={onVisibleRows}
						onNearStart={() => hasOlder && !isLoading && toastResult(store.loadOlder())}
						onNearEnd={() => hasNewer && !isLoading && toastResult(store.loadNewer())}
						onKey={onKey}
					/>
				)}
				{isLoaded && messages.length > 0 && (hasNewer || !visible.isAtEnd) && (
					<button type="button" className="to-latest" onClick={() => toastResult(toNewest())}>
						{newBelow > 0 ? `${newBelow} new ↓` : 'Latest messages ↓'}
					</button>
				)}
			</div>
			<Announcer messages={messages} hasNewer={hasNewer} />
			<Composer
				// Drafts are stored per user, and the user is known a moment after the conversations.
				key={self}
				channel={id}
				label={`Message ${titledName(conversation, name)}`}
				typing={typing}
				isFocused={matchMedia('(pointer: fine)').matches}
				onSent={() => {
					if (hasNewer) toastResult(toNewest());
					else timeline.current?.scrollToEnd();
				}}
				onBack={() => {
					timeline.current?.focusCurrent();
					return timeline.current !== null;
				}}
				onUp={() => {
					const mine = lastEditable(messages, self);
					if (mine) timeline.current?.edit(mine.ts);
					else timeline.current?.focusLast();
				}}
			/>
		</main>
	);
}
