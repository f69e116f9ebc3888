import type { Bus, BusHandler, BusMessage, Publisher, Topic } from '../../ports/bus.ts';
import { type Commands, masters } from './connection.ts';
import type { Keys } from './keys.ts';
import { Pulse } from './pulse.ts';
import { nodesOf, slotOf } from './slots.ts';
import type { Subscriber } from './subscriber.ts';

interface Subscription {
	readonly topic: Topic;
	handlers: readonly BusHandler[];
	/**
	 * Publications of this process that wait until the first attempt to subscribe has ended; null once it has ended.
	 */
	waiting: (() => void)[] | null;
	/** Redis has confirmed the subscription, and the connection was not lost since. */
	isLive: boolean;
	/** Number of lost connections: a confirmation of a request from before the newest loss does not count. */
	losses: number;
	/** The slot moved to another node, or an attempt to subscribe failed: handlers get `lost` once it is subscribed. */
	mayHaveMissed: boolean;
	/** The node of the channel was probed and did not answer. */
	isHanging: boolean;
	/** The node where it is subscribed. */
	node: string;
}

interface Sending {
	/** The node of the channel's slot. */
	readonly node: string;
	/** It waits for an earlier publication. */
	readonly waits: boolean;
	readonly sent: Promise<unknown>;
}

/** What the owner of a partition publishes to a channel in one turn of the event loop: sent with one script. */
interface OwnerBatch {
	readonly publisher: Publisher;
	readonly texts: string[];
	readonly published: PromiseWithResolvers<boolean>;
}

export interface BusHooks {
	/**
	 * From now until `ready`, messages are lost: a process that delivers them has to close its sockets, so that clients resume. Called at the
	 * beginning of the gap, because events from nodes that still answer would move clients past the lost events.
	 */
	onGap(): void;
	/** The gap has ended. */
	onReceiving?(): void;
	onError(error: Error): void;
}

/** Retry interval after a failed subscription or publication, or while a connection is lost. */
const RETRY_MS = 1_000;
/** Longer than a publication can be in flight. */
const PUBLISHERS_SECONDS = 86_400;
/** Bounds how long the script blocks Redis. */
const MAX_BATCHED = 200;
const LOST_MESSAGE: BusMessage = { type: 'lost' };
const LOST = JSON.stringify(LOST_MESSAGE);

/**
 * Live messages over sharded pub/sub: each channel is on the node of its slot, so the load spreads with
 * the conversations. Redis stores nothing: while a connection is down its messages are lost, and `onGap`
 * reports it. If a publication fails, it may have arrived or not: its topic gets `lost`. So does a topic whose slot
 * moved to another node: until this process is subscribed there, it receives none of the topic's messages.
 *
 * `Pulse` detects connections that are open but carry nothing; they count as lost from then on.
 *
 * A process receives what it publishes after subscribing, because its publications wait for the first attempt to subscribe. If that
 * attempt fails, the topic gets `lost` when it is subscribed.
 */
export class RedisBus implements Bus {
	private readonly subscriptions = new Map<string, Subscription>();
	private readonly inFlight = new Set<Promise<unknown>>();
	/** The newest publication in flight of each channel. */
	private readonly sending = new Map<string, Sending>();
	/** By channel: sent at the end of this turn. */
	private readonly ownerBatches = new Map<string, OwnerBatch>();
	/** Channels to publish `lost` to; each entry resolves once Redis has accepted it. */
	private readonly lost = new Map<string, PromiseWithResolvers<unknown>>();
	/** First subscription attempts without an answer. */
	private readonly subscribing = new Set<Promise<void>>();
	/** Channels to subscribe again. */
	private readonly missing = new Set<string>();
	/** Runs while channels are missing. */
	private restoring: Promise<void> | null = null;
	/** Ends the pause before the next attempt. */
	private wake: () => void = () => undefined;
	/** From the loss of a connection until all channels are subscribed again. */
	private isGap = false;
	private closed = false;
	/** The node of a channel's slot, as far as the client knows. */
	private readonly nodeOf: (channel: string) => string;
	private readonly pulse: Pulse;

	constructor(
		private readonly commands: Commands,
		private readonly subscriber: Subscriber,
		private readonly keys: Keys,
		private readonly hooks: BusHooks,
	) {
		subscriber.on('message', (channel, text) => this.receive(channel, text));
		subscriber.on('lost', (node) => this.interrupt(node));
		subscriber.on('connected', () => this.wake());
		if (commands.isCluster) commands.on('refresh', () => this.followMoved());
		const nodeOfSlot = nodesOf(commands);
		const nodeOfTag = (tag: string): string => nodeOfSlot(slotOf(tag));
		this.nodeOf = (channel) => nodeOfTag(keys.tagOf(channel));
		this.pulse = new Pulse({
			nodes: () => (this.subscriptions.size === 0 ? [] : masters(commands)),
			nodeOf: nodeOfTag,
			subscribe: (topic, handler) => this.subscribe(topic, handler),
			unsubscribe: (topic, handler) => this.unsubscribe(topic, handler),
			isReceiving: (topic) => this.isReceiving(topic),
			send: (topic, message) =>
				void commands.spublish(keys.channel(topic), JSON.stringify(message)).catch(() => undefined),
			onSilent: (node) => this.silent(node),
		});
	}

	publish(topic: Topic, message: BusMessage): void {
		const channel = this.keys.channel(topic);
		const text = JSON.stringify(message);
		this.sendOwnerBatch(channel);
		void this.afterFirstAttempt(channel, () =>
			this.send(channel, () => this.commands.spublish(channel, text)),
		);
	}

	/** Messages of one turn share a promise. */
	publishAs(publisher: Publisher, topic: Topic, message: BusMessage): Promise<boolean> {
		const channel = this.keys.channel(topic);
		const text = JSON.stringify(message);
		const open = this.ownerBatches.get(channel);
		if (open && isSame(open.publisher, publisher) && open.texts.length < MAX_BATCHED) {
			open.texts.push(text);
			return open.published.promise;
		}
		this.sendOwnerBatch(channel);
		if (this.ownerBatches.size === 0) queueMicrotask(() => this.sendOwnerBatches());
		const batch: OwnerBatch = { publisher, texts: [text], published: Promise.withResolvers() };
		this.ownerBatches.set(channel, batch);
		return batch.published.promise;
	}

	private sendOwnerBatches(): void {
		for (const channel of [...this.ownerBatches.keys()]) this.sendOwnerBatch(channel);
	}

	private sendOwnerBatch(channel: string): void {
		const batch = this.ownerBatches.get(channel);
		if (!batch) return;
		this.ownerBatches.delete(channel);
		const { texts, published } = batch;
		const { partition, generation } = batch.publisher;
		const arguments_ = [channel, partition, generation, PUBLISHERS_SECONDS, ...texts];
		const publish = () => this.commands.publishOwned(this.keys.publishers(channel), ...arguments_);
		published.resolve(
			this.afterFirstAttempt(channel, () => this.send(channel, publish)).then((result) => result !== 0),
		);
	}

	subscribe(topic: Topic, handler: BusHandler): void {
		const channel = this.keys.channel(topic);
		const subscription = this.subscriptions.get(channel) ?? this.listen(channel, topic);
		// Lists are copied, never changed: a delivery in progress keeps the list it started with.
		subscription.handlers = [...subscription.handlers, handler];
	}

	unsubscribe(topic: Topic, handler: BusHandler): void {
		const channel = this.keys.channel(topic);
		const subscription = this.subscriptions.get(channel);
		if (!subscription) return;
		subscription.handlers = subscription.handlers.filter((one) => one !== handler);
		if (subscription.handlers.length > 0) return;
		this.subscriptions.delete(channel);
		this.missing.delete(channel);
		this.sendWaiting(subscription);
		if (!this.closed) this.track(this.subscriber.unsubscribe(channel));
	}

	async ready(): Promise<void> {
		while (!this.closed && (this.subscribing.size > 0 || this.restoring))
			await Promise.all([this.restoring, ...this.subscribing]);
	}

	isReceiving(topic: Topic): boolean {
		const subscription = this.subscriptions.get(this.keys.channel(topic));
		return subscription?.isLive === true && !subscription.isHanging;
	}

	/**
	 * Probes the nodes that carry worker replies to this gateway, because a hanging connection
	 * reports nothing by itself.
	 */
	async probe(): Promise<void> {
		const replyTopics = [...this.subscriptions].filter(([, { topic }]) => topic.startsWith('gateway:'));
		await Promise.all(replyTopics.map(([channel, subscription]) => this.probeNode(channel, subscription)));
	}

	/** Resolves when everything subscribed and published so far has reached Redis. */
	async flushed(): Promise<void> {
		this.sendOwnerBatches();
		while (this.inFlight.size > 0) await Promise.all(this.inFlight);
	}

	close(): void {
		this.closed = true;
		this.pulse.stop();
		this.subscriptions.clear();
		this.missing.clear();
		this.wake();
	}

	private async probeNode(channel: string, subscription: Subscription): Promise<void> {
		try {
			// Any key in the same slot is on the same node.
			await this.commands.exists(channel);
			subscription.isHanging = false;
		} catch (error) {
			subscription.isHanging = true;
			if (!this.closed) this.hooks.onError(error as Error);
		}
	}

	private listen(channel: string, topic: Topic): Subscription {
		const subscription: Subscription = {
			topic,
			handlers: [],
			waiting: [],
			isLive: false,
			losses: 0,
			mayHaveMissed: false,
			isHanging: false,
			node: '',
		};
		this.subscriptions.set(channel, subscription);
		const first = this.attempt(channel, subscription).finally(() => {
			this.subscribing.delete(first);
			this.sendWaiting(subscription);
		});
		this.subscribing.add(first);
		this.track(first);
		return subscription;
	}

	/** One attempt. Never rejects: after a failure, `restore` retries while the channel has handlers. */
	private async attempt(channel: string, subscription: Subscription): Promise<void> {
		const { losses } = subscription;
		const isWanted = (): boolean => !this.closed && this.subscriptions.get(channel) === subscription;
		subscription.node = this.nodeOf(channel);
		try {
			await this.subscriber.subscribe(channel);
			if (!isWanted()) return;
			// If `losses` has risen, the connection that confirmed the subscription is lost.
			if (subscription.losses === losses) this.confirmed(channel, subscription);
			else this.restore(channel);
		} catch (error) {
			if (!isWanted()) return;
			this.hooks.onError(error as Error);
			subscription.mayHaveMissed = true;
			this.restore(channel);
		}
	}

	private confirmed(channel: string, subscription: Subscription): void {
		subscription.isLive = true;
		this.missing.delete(channel);
		if (!subscription.mayHaveMissed) return;
		subscription.mayHaveMissed = false;
		for (const handler of subscription.handlers) handler(LOST_MESSAGE, subscription.topic);
	}

	private restore(channel: string): void {
		this.missing.add(channel);
		this.restoring ??= this.restoreMissing();
	}

	private async restoreMissing(): Promise<void> {
		// Channels that are lost together become missing in one turn.
		await Promise.resolve();
		while (this.missing.size > 0) {
			const attempts = [...this.missing].flatMap((channel) => {
				const subscription = this.subscriptions.get(channel);
				// Without a connection the attempt would time out; `connected` wakes this loop.
				return subscription && !this.subscriber.isConnecting(this.nodeOf(channel))
					? [this.attempt(channel, subscription)]
					: [];
			});
			await Promise.all(attempts);
			if (this.missing.size > 0) await this.pause();
		}
		this.restoring = null;
		if (!this.isGap || this.closed) return;
		this.isGap = false;
		this.hooks.onReceiving?.();
	}

	private pause(): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, RETRY_MS);
			this.wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}

	private sendWaiting(subscription: Subscription): void {
		for (const publish of subscription.waiting ?? []) publish();
		subscription.waiting = null;
	}

	/** Runs `publish` once the first attempt to subscribe to the channel has ended; at once if this process has no subscription to it. */
	private afterFirstAttempt(channel: string, publish: () => Promise<unknown>): Promise<unknown> {
		const waiting = this.subscriptions.get(channel)?.waiting;
		if (!waiting) return publish();
		return new Promise((resolve) => {
			waiting.push(() => resolve(publish()));
		});
	}

	/**
	 * Resolves to Redis's answer or, if publishing failed, once Redis has accepted `lost` instead. Never rejects. After `close` it
	 * never resolves: nothing was published.
	 */
	private send(channel: string, publish: () => Promise<unknown>): Promise<unknown> {
		if (this.closed) return new Promise(() => undefined);
		const sent = this.inOrder(channel, publish);
		this.track(sent);
		return sent.catch(() => this.scheduleLost(channel));
	}

	/** After a slot moved, a publication to the new node could overtake earlier ones to the old node: wait for them. */
	private inOrder(channel: string, send: () => Promise<unknown>): Promise<unknown> {
		if (!this.commands.isCluster) return send();
		const node = this.nodeOf(channel);
		const before = this.sending.get(channel);
		const waits = before !== undefined && (before.waits || before.node !== node);
		const sent = waits ? before.sent.then(send, send) : send();
		const now: Sending = { node, waits, sent };
		this.sending.set(channel, now);
		const done = (): void => {
			if (this.sending.get(channel) === now) this.sending.delete(channel);
		};
		sent.then(done, done);
		return sent;
	}

	private scheduleLost(channel: string): Promise<unknown> {
		if (this.lost.size === 0) setTimeout(() => this.publishLost(), RETRY_MS).unref();
		const scheduled = this.lost.get(channel) ?? Promise.withResolvers();
		this.lost.set(channel, scheduled);
		return scheduled.promise;
	}

	/**
	 * If it fails, `send` schedules it again. Callers of `scheduleLost` get undefined instead of Redis's
	 * answer: `sendOwnerBatch` takes 0 for a dropped publication, but here Redis answers 0 if nobody
	 * subscribes.
	 */
	private publishLost(): void {
		const scheduled = [...this.lost];
		this.lost.clear();
		for (const [channel, { resolve }] of scheduled)
			resolve(this.send(channel, () => this.commands.spublish(channel, LOST)).then(() => undefined));
	}

	private track(step: Promise<unknown>): void {
		const done = step
			.catch((error: Error) => {
				if (!this.closed) this.hooks.onError(error);
			})
			.finally(() => this.inFlight.delete(done));
		this.inFlight.add(done);
	}

	private receive(channel: string, text: string): void {
		const subscription = this.subscriptions.get(channel);
		if (!subscription) return;
		const message = JSON.parse(text) as BusMessage;
		for (const handler of subscription.handlers) handler(message, subscription.topic);
	}

	private silent(node: string): void {
		const where = node === '' ? 'Redis' : `the Redis node ${node}`;
		this.hooks.onError(new Error(`the subscription to ${where} no longer receives messages; reconnecting`));
		this.subscriber.drop(node);
		this.interrupt(node);
	}

	private interrupt(node: string): void {
		if (this.closed) return;
		let isAnyLost = false;
		for (const [channel, subscription] of this.subscriptions) {
			if (subscription.node !== node) continue;
			subscription.losses += 1;
			if (!subscription.isLive) continue;
			subscription.isLive = false;
			isAnyLost = true;
			this.restore(channel);
		}
		if (!isAnyLost || this.isGap) return;
		this.isGap = true;
		this.hooks.onGap();
	}

	private followMoved(): void {
		for (const [channel, subscription] of this.subscriptions) {
			if (!subscription.isLive || subscription.node === this.nodeOf(channel)) continue;
			subscription.isLive = false;
			subscription.mayHaveMissed = true;
			this.restore(channel);
		}
		this.wake();
	}
}

const isSame = (one: Publisher, other: Publisher): boolean =>
	one.partition === other.partition && one.generation === other.generation;
