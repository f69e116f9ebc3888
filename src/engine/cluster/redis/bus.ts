import type { Bus, BusHandler, BusMessage, Publisher, Topic } from '../../ports/bus.ts';
import { type Commands, dropSubscription, type Subscriber, subscribedNodes } from './connection.ts';
import type { Keys } from './keys.ts';
import { nodesOf } from './nodes.ts';
import { Pulse } from './pulse.ts';

interface Listened {
	readonly topic: Topic;
	handlers: readonly BusHandler[];
	/** While Redis has not confirmed the subscription: what this process publishes to the topic waits. */
	waiting: (() => void)[] | null;
	/** Redis has confirmed the subscription, and no connection was lost since. */
	isHeard: boolean;
	/** The node that carries it was asked, and did not answer. */
	isSilent: boolean;
	/** The node that it was subscribed at. */
	node: string;
}

interface Sending {
	/** The node that has the channel's slot. */
	readonly node: string;
	/** For another one to be sent before it. */
	readonly waits: boolean;
	readonly sent: Promise<unknown>;
}

export interface BusHooks {
	/**
	 * From here on messages are missed, until `ready`: whoever passes them on has to begin anew. Told when it begins,
	 * because the nodes that still answer would take clients past what they miss.
	 */
	onGap(): void;
	/** The gap is over. */
	onHearing?(): void;
	onError(error: Error): void;
}

/** So long after a subscription or a publication failed, or a connection was lost without a sign of its return. */
const TRY_AGAIN_MS = 1_000;
/** Longer than anything that was sent can be under way. */
const PUBLISHERS_SECONDS = 86_400;
const SOMETHING_LOST: BusMessage = { type: 'lost' };
const LOST = JSON.stringify(SOMETHING_LOST);

/**
 * Live messages over sharded pub/sub: each channel lives on the node of its slot, so the load spreads with
 * the conversations. Redis keeps nothing: while a connection is down its messages are lost, which `onGap`
 * tells. What could not be published may have arrived or not: its topic is told that something was lost. So is one whose slot
 * was given to another node: until it is subscribed there, nobody hears it.
 *
 * A connection that carries nothing without being closed is found by its pulse, and counts as lost from then on.
 *
 * A process hears what it publishes after subscribing: its own messages wait for the confirmation.
 */
export class RedisBus implements Bus {
	readonly immediate = false;
	private readonly listened = new Map<string, Listened>();
	private readonly underWay = new Set<Promise<unknown>>();
	/** Of each channel, the newest publication under way. */
	private readonly sending = new Map<string, Sending>();
	/** Channels to be told that something was lost. */
	private readonly lost = new Set<string>();
	/**
	 * Ends of subscriptions that Redis has not confirmed. One that was asked for while a connection was being lost may come
	 * after what is asked for on the next one: so a new subscription of the same channel waits for it.
	 */
	private readonly ending = new Map<string, Promise<void>>();
	/** Subscriptions that Redis has not confirmed. */
	private readonly unheard = new Set<Promise<void>>();
	/** While the connection is down, or not all is subscribed again: ends with the newest attempt. */
	private gap: PromiseWithResolvers<void> | null = null;
	private attempts = 0;
	private interruptions = 0;
	private closed = false;
	/** The node that has a channel's slot, as far as the client knows that publishes, and the one that subscribes. */
	private readonly publishedAt: (channel: string) => string;
	private readonly subscribedAt: (channel: string) => string;
	private readonly pulse: Pulse;

	constructor(
		private readonly commands: Commands,
		private readonly subscriber: Subscriber,
		private readonly keys: Keys,
		private readonly hooks: BusHooks,
	) {
		subscriber.on('smessage', (channel: string, text: string) => this.receive(channel, text));
		for (const event of ['close', '-node', '-subscriber']) subscriber.on(event, () => this.interrupt());
		for (const event of ['ready', 'subscribersReady'])
			subscriber.on(event, () => (this.gap ? this.resume() : this.followMoved()));
		const [publishing, subscribing] = [nodesOf(commands), nodesOf(subscriber)];
		this.publishedAt = (channel) => publishing(keys.tagOf(channel));
		this.subscribedAt = (channel) => subscribing(keys.tagOf(channel));
		this.pulse = new Pulse({
			nodes: () => (this.listened.size === 0 ? [] : subscribedNodes(subscriber)),
			nodeOf: subscribing,
			subscribe: (topic, handler) => this.subscribe(topic, handler),
			unsubscribe: (topic, handler) => this.unsubscribe(topic, handler),
			hears: (topic) => this.hears(topic),
			send: (topic, message) =>
				void commands.spublish(keys.channel(topic), JSON.stringify(message)).catch(() => undefined),
			onSilent: (node) => this.silent(node),
		});
	}

	publish(topic: Topic, message: BusMessage): void {
		const channel = this.keys.channel(topic);
		const text = JSON.stringify(message);
		void this.onceHeard(channel, () => this.send(channel, () => this.commands.spublish(channel, text)));
	}

	async publishAs(publisher: Publisher, topic: Topic, message: BusMessage): Promise<boolean> {
		const channel = this.keys.channel(topic);
		const { partition, generation } = publisher;
		const text = JSON.stringify(message);
		const arguments_ = [channel, partition, generation, PUBLISHERS_SECONDS, text] as const;
		const publish = () => this.commands.publishOwned(this.keys.publishers(channel), ...arguments_);
		return (await this.onceHeard(channel, () => this.send(channel, publish))) !== 0;
	}

	subscribe(topic: Topic, handler: BusHandler): void {
		const channel = this.keys.channel(topic);
		const listened = this.listened.get(channel) ?? this.listen(channel, topic);
		// Lists are replaced, never changed: a delivery under way keeps the one it started with.
		listened.handlers = [...listened.handlers, handler];
	}

	unsubscribe(topic: Topic, handler: BusHandler): void {
		const channel = this.keys.channel(topic);
		const listened = this.listened.get(channel);
		if (!listened) return;
		listened.handlers = listened.handlers.filter((one) => one !== handler);
		if (listened.handlers.length > 0) return;
		this.listened.delete(channel);
		this.letGo(listened);
		if (!this.closed) void this.end(channel);
	}

	async ready(): Promise<void> {
		await Promise.all([this.gap?.promise, ...this.unheard]);
	}

	hears(topic: Topic): boolean {
		const listened = this.listened.get(this.keys.channel(topic));
		return listened?.isHeard === true && !listened.isSilent;
	}

	/**
	 * Finds out whether the nodes answer that carry what is waited for, answers to a gateway: a connection that hangs gives no
	 * sign of its own.
	 */
	async ask(): Promise<void> {
		const awaited = [...this.listened].filter(([, { topic }]) => topic.startsWith('gateway:'));
		await Promise.all(awaited.map(([channel, listened]) => this.askFor(channel, listened)));
	}

	/** Resolves when everything subscribed and published so far has reached Redis. */
	async settled(): Promise<void> {
		while (this.underWay.size > 0) await Promise.all(this.underWay);
	}

	close(): void {
		this.closed = true;
		this.pulse.stop();
		this.listened.clear();
		this.gap?.resolve();
	}

	private async askFor(channel: string, listened: Listened): Promise<void> {
		try {
			// Of a key by the same name, which lies on the same node.
			await this.commands.exists(channel);
			listened.isSilent = false;
		} catch (error) {
			listened.isSilent = true;
			if (!this.closed) this.hooks.onError(error as Error);
		}
	}

	private listen(channel: string, topic: Topic): Listened {
		const listened: Listened = {
			topic,
			handlers: [],
			waiting: [],
			isHeard: false,
			isSilent: false,
			node: '',
		};
		this.listened.set(channel, listened);
		const ending = this.ending.get(channel);
		const first = ending
			? ending.then(() => this.subscriber.ssubscribe(channel))
			: this.subscriber.ssubscribe(channel);
		first.finally(() => this.letGo(listened)).catch(() => undefined);
		void this.untilHeard(channel, listened, first);
		return listened;
	}

	/** As `heard`; `ready` waits for it. */
	private untilHeard(channel: string, listened: Listened, first: Promise<unknown>): Promise<void> {
		const heard = this.heard(channel, listened, first).finally(() => this.unheard.delete(heard));
		this.unheard.add(heard);
		this.track(heard);
		return heard;
	}

	/** Asks until Redis has confirmed it, or nobody listens any more. */
	private async heard(channel: string, listened: Listened, first: Promise<unknown>): Promise<void> {
		for (let attempt = first; ; attempt = this.subscribeAgain(channel)) {
			const { interruptions } = this;
			listened.node = this.subscribedAt(channel);
			try {
				await attempt;
				// Else it may have been confirmed by a connection that is gone: `resume` asks once more.
				if (this.interruptions === interruptions) listened.isHeard = true;
				return;
			} catch (error) {
				if (this.closed) return;
				this.hooks.onError(error as Error);
			}
			await Bun.sleep(TRY_AGAIN_MS);
			if (this.closed || this.listened.get(channel) !== listened) return;
		}
	}

	/** What waited to be published. */
	private letGo(listened: Listened): void {
		for (const publish of listened.waiting ?? []) publish();
		listened.waiting = null;
	}

	/** Once what this process subscribed to before is confirmed. */
	private onceHeard(channel: string, publish: () => Promise<unknown>): Promise<unknown> {
		const waiting = this.listened.get(channel)?.waiting;
		if (!waiting) return publish();
		return new Promise((resolve) => {
			waiting.push(() => resolve(publish()));
		});
	}

	/** Never fails: where it could not be published, `lost` follows. Answers with what Redis did. */
	private send(channel: string, publish: () => Promise<unknown>): Promise<unknown> {
		if (this.closed) return Promise.resolve();
		const sent = this.inOrder(channel, publish);
		this.track(sent.catch((error) => this.lose(channel, error)));
		return sent.catch(() => undefined);
	}

	/** What is sent to another node than what went before it could overtake that. */
	private inOrder(channel: string, send: () => Promise<unknown>): Promise<unknown> {
		if (!this.commands.isCluster) return send();
		const node = this.publishedAt(channel);
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

	private lose(channel: string, error: Error): never {
		if (this.lost.size === 0) setTimeout(() => this.tellLost(), TRY_AGAIN_MS).unref();
		this.lost.add(channel);
		throw error;
	}

	/** Again and again, until Redis has taken it. */
	private tellLost(): void {
		const channels = [...this.lost];
		this.lost.clear();
		for (const channel of channels) void this.send(channel, () => this.commands.spublish(channel, LOST));
	}

	private track(step: Promise<unknown>): void {
		const done = step
			.catch((error: Error) => {
				if (!this.closed) this.hooks.onError(error);
			})
			.finally(() => this.underWay.delete(done));
		this.underWay.add(done);
	}

	private receive(channel: string, text: string): void {
		const listened = this.listened.get(channel);
		if (!listened) return;
		const message = JSON.parse(text) as BusMessage;
		for (const handler of listened.handlers) handler(message, listened.topic);
	}

	private silent(node: string): void {
		const where = node === '' ? 'Redis' : `the Redis node ${node}`;
		this.hooks.onError(new Error(`the connection that ${where} delivers live messages over went silent`));
		dropSubscription(this.subscriber, node);
		this.interrupt();
	}

	private interrupt(): void {
		if (this.closed) return;
		this.attempts += 1;
		this.interruptions += 1;
		// Which node it was is not told.
		for (const listened of this.listened.values()) listened.isHeard = false;
		// Not every loss is followed by a sign that the connection is back.
		setTimeout(() => this.resume(), TRY_AGAIN_MS).unref();
		if (this.gap) return;
		this.gap = Promise.withResolvers<void>();
		this.hooks.onGap();
	}

	/** The client resubscribes by itself; asking for it once more tells when that is done. */
	private resume(): void {
		const { gap } = this;
		if (!gap || this.closed) return;
		this.attempts += 1;
		const attempt = this.attempts;
		const again = [...this.listened].map(([channel, listened]) =>
			this.heard(channel, listened, this.subscribeAgain(channel)),
		);
		const done = Promise.all(again).then(() => {
			if (this.attempts !== attempt || this.gap !== gap) return;
			this.gap = null;
			gap.resolve();
			this.hooks.onHearing?.();
		});
		this.track(done);
	}

	private followMoved(): void {
		for (const [channel, listened] of this.listened)
			if (listened.isHeard && listened.node !== this.subscribedAt(channel))
				void this.hearElsewhere(channel, listened);
	}

	private async hearElsewhere(channel: string, listened: Listened): Promise<void> {
		listened.isHeard = false;
		await this.untilHeard(channel, listened, this.subscribeAgain(channel));
		for (const handler of listened.handlers) handler(SOMETHING_LOST, listened.topic);
	}

	private async subscribeAgain(channel: string): Promise<void> {
		// For a cluster the client keeps a list that would grow by every repetition.
		if (this.subscriber.isCluster) await this.end(channel);
		await this.subscriber.ssubscribe(channel);
	}

	/** Never fails: where it does, the connection is gone, and with it the subscription. */
	private end(channel: string): Promise<void> {
		const before = this.ending.get(channel);
		const step = (before ?? Promise.resolve())
			.then(() => this.subscriber.sunsubscribe(channel))
			.then(
				() => undefined,
				(error: Error) => {
					if (!this.closed) this.hooks.onError(error);
				},
			)
			.finally(() => {
				if (this.ending.get(channel) === step) this.ending.delete(channel);
			});
		this.ending.set(channel, step);
		this.track(step);
		return step;
	}
}
