import { useClient, useConversation } from '@tidemark/client/react';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Composer } from '../composer/Composer.tsx';
import { lastEditable } from '../message/editable.ts';
import { markUnread } from '../message/MessageActions.tsx';
import { useHotkey } from '../session/hotkeys.ts';
import { isChannel, titledName, useConversationName, useSelf } from '../session/names.ts';
import { openThread, type Route } from '../session/route.ts';
import { showToast } from '../session/toast.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Announcer } from './Announcer.tsx';
import { Beginning } from './Beginning.tsx';
import { ConversationHead } from './ConversationHead.tsx';
import { NewBar } from './NewBar.tsx';
import { NotAMember } from './NotAMember.tsx';
import { isNewAbove } from './reading.ts';
import { timelineRows } from './rows.ts';
import { type Sight, Timeline, type TimelineHandle } from './Timeline.tsx';
import { useReading } from './useReading.ts';

const newerOf = (one: string, other: string): string => (one > other ? one : other);

const UNSEEN: Sight = { first: 0, last: 0, isAtEnd: false, onScreen: [] };

export function ConversationView({ route }: { readonly route: Route }) {
	const { id, at } = route;
	const client = useClient();
	const store = client.conversation(id);
	const view = useConversation(id);
	const { conversation, messages, hasOlder, hasNewer, isLoaded, isLoading, typing, error } = view;
	const self = useSelf();
	const name = useConversationName(conversation);
	const { anchor, isFollowing, see, markRead, divide } = useReading(conversation);
	const timeline = useRef<TimelineHandle>(null);
	const [sight, setSight] = useState(UNSEEN);
	const [wanted, setWanted] = useState<string | null>(at);
	const rows = useMemo(() => timelineRows(messages, anchor, self), [messages, anchor, self]);

	const onSight = useCallback(
		(now: Sight) => {
			setSight((before) =>
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

	// Scroll to it only once: loading more must not move a user who has scrolled away.
	const reached = useRef<string | null>(null);
	const show = useCallback(
		async (ts: string) => {
			await store.jumpTo(ts);
			reached.current = null;
			setWanted(ts);
		},
		[store],
	);
	// For a link to a message: load the messages around it if it is not loaded.
	useEffect(() => {
		if (at) showToast(show(at));
	}, [at, show]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: runs again when other messages are loaded
	useEffect(() => {
		if (wanted && reached.current !== wanted && timeline.current?.scrollTo(wanted)) reached.current = wanted;
	}, [wanted, rows]);

	const toLatest = async () => {
		setWanted(null);
		await store.jumpToLatest();
		requestAnimationFrame(() => timeline.current?.scrollToEnd());
	};
	const toOldest = async () => {
		const { oldest_unread: oldest } = await client.call('conversations.unreads', { channel: id, limit: 1 });
		if (!oldest) return;
		divide();
		reached.current = null;
		setWanted(oldest);
		if (!timeline.current?.scrollTo(oldest)) await show(oldest);
	};
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

	// New messages below that were never on screen.
	const newestSeen = useRef('');
	newestSeen.current = newerOf(newestSeen.current, sight.onScreen.at(-1) ?? '');
	const newBelow = hasNewer
		? 0
		: rows.filter(({ message }) => message.ts > newestSeen.current && message.user !== self).length;
	const isAbove =
		conversation !== null && isNewAbove(conversation, rows, { first: sight.first, hasOlder, self });
	// More messages arrived than fit on the screen: a divider shows where they start.
	useEffect(() => {
		if (isAbove && anchor === null) divide();
	}, [isAbove, anchor, divide]);

	if (!conversation) return <NotAMember id={id} messages={messages} />;
	// Do not offer messages that the user is already reading.
	const isOffered = conversation.hasUnreads && (isAbove || !isFollowing);
	return (
		<main className="pane" aria-label={name}>
			<ConversationHead conversation={conversation} name={name} onMarkRead={markRead} />
			{isOffered && (
				<NewBar
					conversation={conversation}
					isAbove={isAbove}
					onJump={() => showToast(toOldest())}
					onMarkRead={markRead}
				/>
			)}
			<div className="timeline-place" aria-busy={isLoading}>
				{!isLoaded && isLoading && <Loading label="Loading messages" />}
				{!isLoaded && error && <Failed error={error} onRetry={() => showToast(store.load())} />}
				{isLoaded && messages.length === 0 && (
					<Empty icon="thread" title="Nothing here yet">
						Write the first message {isChannel(conversation) ? 'in' : 'to'} {titledName(conversation, name)}.
					</Empty>
				)}
				{isLoaded && messages.length > 0 && (
					<Timeline
						ref={timeline}
						label={`Messages in ${name}`}
						rows={rows}
						top={hasOlder ? null : <Beginning conversation={conversation} name={name} />}
						highlighted={wanted}
						onSight={onSight}
						onNearStart={() => hasOlder && !isLoading && showToast(store.loadOlder())}
						onNearEnd={() => hasNewer && !isLoading && showToast(store.loadNewer())}
						onKey={onKey}
					/>
				)}
				{isLoaded && messages.length > 0 && (hasNewer || !sight.isAtEnd) && (
					<button type="button" className="to-latest" onClick={() => showToast(toLatest())}>
						{newBelow > 0 ? `${newBelow} new ↓` : 'Latest messages ↓'}
					</button>
				)}
			</div>
			<Announcer messages={messages} />
			<Composer
				// Drafts belong to a user, who is known a moment after the conversations.
				key={self}
				channel={id}
				label={`Message ${titledName(conversation, name)}`}
				typing={typing}
				isFocused={matchMedia('(pointer: fine)').matches}
				onSent={() => {
					if (hasNewer) showToast(toLatest());
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
