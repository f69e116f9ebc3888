import type { Answer, Api } from './api.ts';
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

/** A contiguous part of a conversation's timeline, kept up to date by events. */

/** When a new message makes the list longer than this, the oldest page is dropped. It can be loaded again. */
const MAX_KEPT = 2000;

export class TimelineWindow {
	messages: readonly Message[] = [];
	isLoaded = false;
	hasOlder = false;
	hasNewer = false;
	readonly loader: Loader;
	private readonly freshness = new Freshness();

	constructor(
		private readonly channel: string,
		private readonly api: Api,
		private readonly pageSize: number,
		private readonly self: () => string,
		changed: () => void,
	) {
		this.loader = new Loader((event) => this.apply(event), changed);
	}

	load(): Promise<void> {
		return this.loader.run(() => (this.isLoaded ? undefined : this.latest()));
	}

	jumpToLatest(): Promise<void> {
		return this.loader.run(() => (this.isLoaded && !this.hasNewer ? undefined : this.latest()));
	}

	loadOlder(): Promise<void> {
		return this.loader.run(() => {
			const [first] = this.messages;
			if (!this.isLoaded) return this.latest();
			if (!first || !this.hasOlder) return undefined;
			return this.page({ latest: first.ts }).then(({ messages, hasMore }) => () => {
				this.messages = [...messages, ...this.messages];
				this.hasOlder = hasMore;
			});
		});
	}

	loadNewer(): Promise<void> {
		return this.loader.run(() => {
			const last = this.messages.at(-1);
			if (!last || !this.hasNewer) return undefined;
			return this.page({ oldest: last.ts }).then(({ messages, hasMore }) => () => {
				this.messages = [...this.messages, ...messages];
				this.hasNewer = hasMore;
				this.noteNewest();
			});
		});
	}

	/** Loads the messages up to this one, and those after it. */
	jumpTo(ts: string): Promise<void> {
		return this.loader.run(async () => {
			const [before, after] = await Promise.all([
				this.page({ latest: ts, inclusive: true }),
				this.page({ oldest: ts }),
			]);
			return () => {
				this.messages = [...before.messages, ...after.messages];
				this.hasOlder = before.hasMore;
				this.hasNewer = after.hasMore;
				this.isLoaded = true;
				this.noteNewest();
			};
		});
	}

	forget(): void {
		this.messages = [];
		this.isLoaded = false;
		this.hasOlder = false;
		this.hasNewer = false;
		this.loader.forget();
	}

	private latest(): Promise<() => void> {
		return this.page({}).then(({ messages, hasMore }) => () => {
			this.messages = messages;
			this.hasOlder = hasMore;
			this.hasNewer = false;
			this.isLoaded = true;
			this.noteNewest();
		});
	}

	private noteNewest(): void {
		if (!this.hasNewer) this.freshness.loaded(this.messages.at(-1));
	}

	private async page(bounds: object): Promise<{ messages: Message[]; hasMore: boolean }> {
		const args = { channel: this.channel, limit: this.pageSize, include_all_metadata: true, ...bounds };
		const answer: Answer = await this.api.callIdempotent('conversations.history', args);
		const messages = answer.messages.map((message: Wire) => toMessage(message, this.channel)).reverse();
		return { messages, hasMore: answer.has_more };
	}

	private apply(event: Wire): void {
		if (!this.isLoaded) return;
		const { subtype } = event;
		if (isReactionOrPin(event)) this.react(event);
		else if (subtype === 'message_changed') this.replace(event);
		else if (subtype === 'message_replied') this.updateRoot(event);
		else if (subtype === 'message_deleted') this.remove(event.deleted_ts, event.tombstone === true);
		else if (event.prev_ts !== undefined) this.add(event);
	}

	private add(event: Wire): void {
		// The message is after the loaded part: `loadNewer` loads it, after the messages in between.
		if (this.hasNewer) return;
		const message = toMessage(event, this.channel);
		const known = list.find(this.messages, message.ts);
		if (!this.freshness.accepts(event, message, known)) return;
		// The event of a post contains neither replies nor reactions.
		const whole = known ? keepReactions(withThread(message, known), known) : message;
		this.messages = list.insert(this.messages, whole);
		// A page that is loading must adjoin the list when it arrives.
		if (this.messages.length <= MAX_KEPT || this.loader.isLoading) return;
		this.messages = this.messages.slice(this.pageSize);
		this.hasOlder = true;
	}

	private replace(event: Wire): void {
		const message = toMessage(event.message, this.channel);
		const known = list.find(this.messages, message.ts);
		if (known && this.freshness.accepts(event, message, known))
			this.messages = list.replace(this.messages, keepReactions(message, known));
	}

	private react(event: Wire): void {
		const known = list.find(this.messages, targetTs(event));
		if (known && !known.isTombstone && this.freshness.acceptsReaction(event))
			this.messages = list.replace(this.messages, withReactionOrPin(known, event, this.self()));
	}

	/**
	 * Updates the reply counters of a root. A root that was posted and deleted while the client was offline is unknown:
	 * then its tombstone is added.
	 */
	private updateRoot(event: Wire): void {
		const message = toMessage(event.message, this.channel);
		const known = list.find(this.messages, message.ts);
		if (!this.freshness.acceptsReplies(event, message, known)) return;
		const isGone = message.isTombstone && message.replyCount === 0;
		if (isGone) this.messages = list.remove(this.messages, message.ts);
		else if (known) this.messages = list.replace(this.messages, withThread(known, message));
		else if (message.isTombstone && this.covers(message.ts))
			this.messages = list.insert(this.messages, message);
	}

	private covers(ts: string): boolean {
		const isAfterFirst = !this.hasOlder || ts >= (this.messages[0]?.ts ?? '');
		return isAfterFirst && (!this.hasNewer || ts <= (this.messages.at(-1)?.ts ?? ''));
	}

	private remove(ts: string, tombstone: boolean): void {
		const known = list.find(this.messages, ts);
		this.freshness.delete(ts);
		if (known && tombstone) this.messages = list.replace(this.messages, tombstoneOf(known));
		else this.messages = list.remove(this.messages, ts);
	}
}
