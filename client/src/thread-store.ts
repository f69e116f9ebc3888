import type { Core } from './core.ts';
import { FollowState } from './follow-state.ts';
import { Cell } from './notifier.ts';
import type { PostOptions, Reader, ThreadStore } from './public.ts';
import { LiveReader } from './reading/reader.ts';
import { withUnsent } from './shown-messages.ts';
import { ThreadMarks } from './thread-marks.ts';
import { isOfThread, ThreadWindow } from './thread-window.ts';
import type { Message, ThreadView } from './types.ts';
import { keyOf } from './typing.ts';
import { isReactionOrPin, type Wire } from './wire.ts';

/** One thread: its loaded messages, its read state, and the actions on it. */
export class LiveThread implements ThreadStore {
	readonly subscribe: ThreadStore['subscribe'];
	readonly getSnapshot: ThreadStore['getSnapshot'];
	private readonly window: ThreadWindow;
	private readonly followState: FollowState;
	private readonly seenMarks: ThreadMarks;
	private readonly cell: Cell<ThreadView>;

	constructor(
		readonly channel: string,
		readonly threadTs: string,
		private readonly core: Core,
		watched: (isWatched: boolean) => void,
	) {
		const changed = () => this.cell.touch();
		this.window = new ThreadWindow(channel, threadTs, core.api, () => core.state.self, changed);
		this.followState = new FollowState(channel, threadTs, core.api, changed);
		this.seenMarks = new ThreadMarks({
			...core,
			lastRead: () => this.followState.lastRead,
			send: (ts) => this.mark(ts),
		});
		this.cell = new Cell(
			core.notifier,
			(previous) => this.view(previous),
			(isWatched) => {
				watched(isWatched);
				if (isWatched) this.loadWatched();
			},
		);
		this.subscribe = this.cell.subscribe;
		this.getSnapshot = this.cell.getSnapshot;
	}

	load = async (): Promise<void> => {
		if (this.window.isLoaded) return;
		await Promise.all([this.window.load(), this.followState.refresh()]);
	};
	loadMore = (): Promise<void> => this.window.loadMore();

	reply = (text: string, options: Omit<PostOptions, 'threadTs'> = {}): Promise<Message> =>
		this.core.outbox.post(this.channel, text, { ...options, threadTs: this.threadTs });

	mark = (ts?: string): Promise<void> => this.markTo(ts ?? this.newest(), true);
	markUnread = (ts: string): Promise<void> => this.markTo(ts, false);
	reader = (): Reader =>
		new LiveReader({
			...this.core,
			readable: () => {
				const { isFollowing, lastRead, unreadCount } = this.followState;
				const hasUnreads = isFollowing && unreadCount > 0;
				const { self } = this.core.state;
				return { messages: this.window.replies, hasOlder: false, lastRead, hasUnreads, self };
			},
			mark: async ({ upTo }) => {
				if (upTo !== null) this.seenMarks.mark(upTo);
			},
		});
	follow = (): Promise<void> => this.followState.applyAnswer(this.call('subscriptions.thread.add'));
	unfollow = async (): Promise<void> => {
		await this.call('subscriptions.thread.remove');
		await this.followState.refresh();
	};
	sendTyping = (): void => this.core.typing.sendTyping(this.channel, this.threadTs);

	touch(): void {
		this.cell.touch();
	}

	/** Applies an event about a message of the conversation. */
	receive(event: Wire): void {
		if (!isOfThread(event, this.threadTs)) return;
		this.window.loader.receive(event);
		if (!isReactionOrPin(event)) this.refresh();
		this.cell.touch();
	}

	/** Applies an event about the user's follow or cursor. */
	receiveFollowState(event: Wire): void {
		if (event.type === 'thread_marked') this.followState.setState(event);
		else this.refresh();
	}

	forget(): void {
		this.window.forget();
		this.cell.touch();
		this.loadWatched();
	}

	/** Loads and sends what could not be loaded and sent without a connection. */
	online(): void {
		this.loadWatched();
		this.seenMarks.online();
		if (this.followState.isStale) this.refresh();
	}

	private loadWatched(): void {
		if (this.cell.isWatched && this.core.isReady()) this.core.background(this.load());
	}

	private refresh(): void {
		// Also while the messages are loading: a follow state that arrived before this event is outdated.
		if (this.window.isLoaded || this.window.loader.isLoading)
			this.core.background(this.followState.refresh());
	}

	private newest(): string {
		return this.window.replies.at(-1)?.ts ?? this.window.root?.latestReply ?? this.threadTs;
	}

	private markTo(ts: string, read: boolean): Promise<void> {
		return this.followState.applyAnswer(this.call('subscriptions.thread.mark', { ts, read }));
	}

	private call(method: string, args: object = {}): Promise<Wire> {
		return this.core.api.call(method, { channel: this.channel, thread_ts: this.threadTs, ...args });
	}

	private view(previous: ThreadView | undefined): ThreadView {
		const { root, replies, isLoaded, hasMore, loader } = this.window;
		const { isFollowing, lastRead, unreadCount, mentionCount } = this.followState;
		const { outbox, typing } = this.core;
		const unsent = outbox.of(this.channel).filter(({ threadTs }) => threadTs === this.threadTs);
		return {
			channel: this.channel,
			threadTs: this.threadTs,
			root,
			replies: withUnsent(previous?.replies, replies, unsent),
			isLoaded,
			isLoading: loader.isLoading,
			hasMore,
			isFollowing,
			lastRead,
			unreadCount,
			mentionCount,
			typing: typing.in(keyOf(this.channel, this.threadTs)),
			error: loader.error,
		};
	}
}
