import type { Api } from './api.ts';
import { Freshness } from './freshness.ts';
import { Loader } from './loader.ts';
import * as list from './message-list.ts';
import type { Message } from './types.ts';
import {
	isReactionOrPin,
	keepReactions,
	targetTs,
	toMessage,
	tombstoneOf,
	type Wire,
	withReactionOrPin,
	withThread,
} from './wire.ts';

/** The messages of a thread from its root on, kept up to date by events. */

const PAGE = 1000;

export class ThreadWindow {
	root: Message | null = null;
	replies: readonly Message[] = [];
	isLoaded = false;
	readonly loader: Loader;
	private readonly freshness = new Freshness();
	private cursor = '';

	constructor(
		private readonly channel: string,
		private readonly threadTs: string,
		private readonly api: Api,
		private readonly self: () => string,
		changed: () => void,
	) {
		this.loader = new Loader((event) => this.apply(event), changed);
	}

	get hasMore(): boolean {
		return this.cursor !== '';
	}

	load(): Promise<void> {
		return this.loader.run(() => (this.isLoaded ? undefined : this.page()));
	}

	loadMore(): Promise<void> {
		return this.loader.run(() => (this.isLoaded && !this.hasMore ? undefined : this.page()));
	}

	forget(): void {
		this.root = null;
		this.replies = [];
		this.isLoaded = false;
		this.cursor = '';
		this.loader.forget();
	}

	private async page(): Promise<() => void> {
		const { cursor } = this;
		const place = { channel: this.channel, ts: this.threadTs, limit: PAGE, include_all_metadata: true };
		const answer = await this.api.callIdempotent('conversations.replies', {
			...place,
			...(cursor ? { cursor } : {}),
		});
		const messages: Message[] = answer.messages.map((message: Wire) => toMessage(message, this.channel));
		return () => {
			const [root, ...replies] = cursor ? [this.root, ...messages] : messages;
			this.root = root ?? null;
			this.replies = cursor ? [...this.replies, ...(replies as Message[])] : (replies as Message[]);
			this.cursor = answer.response_metadata?.next_cursor ?? '';
			this.isLoaded = true;
			if (!this.hasMore) this.freshness.loaded(this.replies.at(-1));
		};
	}

	/** Call it only with events of this thread: see `isOfThread`. */
	private apply(event: Wire): void {
		if (!this.isLoaded) return;
		const { subtype } = event;
		if (isReactionOrPin(event)) this.react(event);
		else if (subtype === 'message_changed') this.replace(event);
		else if (subtype === 'message_replied') this.updateRoot(event);
		else if (subtype === 'message_deleted') this.remove(event.deleted_ts, event.tombstone === true);
		else if (!this.hasMore) this.add(event);
	}

	private add(event: Wire): void {
		const message = toMessage(event, this.channel);
		const known = list.find(this.replies, message.ts);
		if (!this.freshness.accepts(event, message, known)) return;
		this.replies = list.insert(this.replies, known ? keepReactions(message, known) : message);
	}

	private replace(event: Wire): void {
		const message = toMessage(event.message, this.channel);
		const known = message.ts === this.threadTs ? this.root : list.find(this.replies, message.ts);
		if (!known || !this.freshness.accepts(event, message, known)) return;
		const whole = keepReactions(message, known);
		if (message.ts === this.threadTs) this.root = whole;
		else this.replies = list.replace(this.replies, whole);
	}

	private react(event: Wire): void {
		const ts = targetTs(event);
		const known = ts === this.threadTs ? this.root : list.find(this.replies, ts);
		if (!known || known.isTombstone || !this.freshness.acceptsReaction(event)) return;
		const updated = withReactionOrPin(known, event, this.self());
		if (ts === this.threadTs) this.root = updated;
		else this.replies = list.replace(this.replies, updated);
	}

	private updateRoot(event: Wire): void {
		const message = toMessage(event.message, this.channel);
		if (!this.freshness.acceptsReplies(event, message, this.root ?? undefined)) return;
		if (this.root) this.root = withThread(this.root, message);
		else if (message.isTombstone) this.root = message;
	}

	private remove(ts: string, tombstone: boolean): void {
		this.freshness.delete(ts);
		if (ts !== this.threadTs) this.replies = list.remove(this.replies, ts);
		else if (this.root) this.root = tombstone ? tombstoneOf(this.root) : null;
	}
}

/**
 * Whether an event may be about this thread. Deletions and reactions carry no thread, so each of them may be.
 */
export function isOfThread(event: Wire, threadTs: string): boolean {
	if (event.subtype === 'message_deleted' || isReactionOrPin(event)) return true;
	const { ts, thread_ts: thread } = event.message ?? event;
	return thread === threadTs || (event.message !== undefined && ts === threadTs);
}
