import { backoffMs } from './backoff.ts';
import type { Core } from './core.ts';
import { ApiError, codeOf } from './errors.ts';
import { Cell } from './notifier.ts';
import type { ThreadsStore } from './public.ts';
import type { Message, ThreadSummary, ThreadsView } from './types.ts';
import { targetTs, toMessage, type Wire, withReactionOrPin } from './wire.ts';

/**
 * The followed threads. An event `update_thread_state` says that some of them changed, but not which. If the list has
 * subscribers, the store then fetches it again at its current length; changes during a fetch cause only one more fetch.
 */

const PAGE = 10;
/** Minimum pause before a retry. */
const MIN_PAUSE_MS = 1_000;

export class LiveThreads implements ThreadsStore {
	readonly subscribe: ThreadsStore['subscribe'];
	readonly getSnapshot: ThreadsStore['getSnapshot'];
	private readonly cell: Cell<ThreadsView>;
	private threads: readonly ThreadSummary[] = [];
	private wanted = PAGE;
	private isLoaded = false;
	private isStale = true;
	private hasMore = false;
	private error: string | null = null;
	private inFlight: Promise<void> | undefined;
	/** Number of failed loads since the last successful one. */
	private failures = 0;
	/** Until the next attempt after a failure. */
	private timer: unknown;

	constructor(private readonly core: Core) {
		this.cell = new Cell(
			core.notifier,
			() => this.view(),
			(isWatched) => {
				if (isWatched) this.loadWatched();
			},
		);
		this.subscribe = this.cell.subscribe;
		this.getSnapshot = this.cell.getSnapshot;
	}

	load = (): Promise<void> => {
		if (!this.isStale) return this.inFlight ?? Promise.resolve();
		this.inFlight ??= this.fetch().finally(() => {
			this.inFlight = undefined;
			this.cell.touch();
		});
		this.cell.touch();
		return this.inFlight;
	};

	loadMore = (): Promise<void> => {
		if (this.hasMore) {
			this.wanted = this.threads.length + PAGE;
			this.isStale = true;
		}
		return this.load();
	};

	markAll = async (): Promise<void> => void (await this.core.api.call('subscriptions.thread.clearAll'));

	/** A followed thread changed, or the user followed or unfollowed one. */
	invalidate(): void {
		this.isStale = true;
		this.loadWatched();
	}

	/** Applies a reaction or pin, if its message is in the list. */
	receiveReactionOrPin(event: Wire): void {
		const { channel } = event.item;
		const ts = targetTs(event);
		const isTarget = (message: Message): boolean => message.channel === channel && message.ts === ts;
		const updated = (message: Message): Message =>
			isTarget(message) ? withReactionOrPin(message, event, this.core.state.self) : message;
		// A list that is being fetched may be older than this event.
		if (this.inFlight) this.isStale = true;
		if (!this.threads.some((thread) => messagesOf(thread).some(isTarget))) return;
		this.threads = this.threads.map((thread) =>
			messagesOf(thread).some(isTarget)
				? {
						...thread,
						root: updated(thread.root),
						unreadReplies: thread.unreadReplies.map(updated),
						latestReplies: thread.latestReplies.map(updated),
					}
				: thread,
		);
		this.cell.touch();
	}

	/** Loads what could not be loaded without a connection. */
	online(): void {
		this.loadWatched();
	}

	private loadWatched(): void {
		if (!this.cell.isWatched || !this.core.isReady()) return;
		this.core.background(
			this.load().then(
				() => {
					this.failures = 0;
				},
				(error) => this.loadLater(error),
			),
		);
	}

	/** Retries after a failure. Without this, a list on screen would stay outdated until the next change. */
	private loadLater(error: unknown): void {
		if (this.timer !== undefined || !(error instanceof ApiError) || error.retry === 'no') return;
		const { timers, random } = this.core.platform;
		this.failures += 1;
		this.timer = timers.set(() => {
			this.timer = undefined;
			this.loadWatched();
		}, MIN_PAUSE_MS + backoffMs(this.failures, random));
	}

	private async fetch(): Promise<void> {
		while (this.isStale) {
			this.isStale = false;
			try {
				const answer = await this.core.api.callIdempotent('subscriptions.thread.getView', {
					limit: this.wanted,
				});
				this.threads = answer.threads.map(toSummary);
				this.hasMore = answer.has_more;
				this.isLoaded = true;
				this.error = null;
			} catch (error) {
				this.isStale = true;
				this.error = codeOf(error);
				throw error;
			}
		}
	}

	private view(): ThreadsView {
		const { threads, isLoaded, hasMore, error } = this;
		return { threads, isLoaded, isLoading: this.inFlight !== undefined, hasMore, error };
	}
}

const messagesOf = ({ root, unreadReplies, latestReplies }: ThreadSummary): Message[] => [
	root,
	...unreadReplies,
	...latestReplies,
];

function toSummary(thread: Wire): ThreadSummary {
	const { channel, ts } = thread.root_msg;
	const messages = (list: readonly Wire[]) => list.map((message) => toMessage(message, channel));
	return {
		channel,
		threadTs: ts,
		root: toMessage(thread.root_msg, channel),
		unreadReplies: messages(thread.unread_replies),
		latestReplies: messages(thread.latest_replies),
		unreadCount: thread.unread_count,
		mentionCount: thread.mention_count,
	};
}
