import type { Bus, BusHandler, BusMessage, Publisher, Topic } from '../../ports/bus.ts';
import { type Commands, masters } from './connection.ts';
import type { Keys } from './keys.ts';
import { nodesOf } from './nodes.ts';
import { Pulse } from './pulse.ts';
import type { Subscriber } from './subscriber.ts';

interface Listened {
	readonly topic: Topic;
	handlers: readonly BusHandler[];
	/** While Redis has not confirmed the subscription: what this process publishes to the topic waits. */
	waiting: (() => void)[] | null;
	/** Redis has confirmed the subscription, and its connection was not lost since. */
	isReceived: boolean;
	/** How often its connection was lost: what was asked for before the newest loss confirms nothing. */
	losses: number;
	/** The slot moved to another node: messages may have been missed, and handlers get `lost` once it is subscribed there. */
	hasMoved: boolean;
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

/** What an owner of a partition publishes to a channel in one turn: one script, however many messages. */
interface Gathered {
	readonly publisher: Publisher;
	readonly texts: string[];
	readonly published: PromiseWithResolvers<boolean>;
}

export interface BusHooks {
	/**
	 * From here on messages are missed, until `ready`: a process that delivers them has to start over. Called when it begins,
	 * because the nodes that still answer would take clients past what they miss.
	 */
	onGap(): void;
	/** The gap is over. */
	onReceiving?(): void;
	onError(error: Error): void;
}

/** So long after a subscription or a publication failed, or a connection was lost without a sign of its return. */
const TRY_AGAIN_MS = 1_000;
/** Longer than anything that was sent can be under way. */
const PUBLISHERS_SECONDS = 86_400;
/** Redis does nothing else meanwhile. */
const MOST_GATHERED = 200;
const SOMETHING_LOST: BusMessage = { type: 'lost' };
const LOST = JSON.stringify(SOMETHING_LOST);

/**
 * Live messages over sharded pub/sub: each channel lives on the node of its slot, so the load spreads with
 * the conversations. Redis keeps nothing: while a connection is down its messages are lost, which `onGap`
 * tells. What could not be published may have arrived or not: its topic gets `lost`. So does one whose slot
 * moved to another node: until it is subscribed there, nobody receives it.
 *
 * A connection that carries nothing without being closed is found by its pulse, and counts as lost from then on.
 *
 * A process receives what it publishes after subscribing: its own messages wait for the confirmation.
 */
export class RedisBus implements Bus {
	private readonly listened = new Map<string, Listened>();
	private readonly underWay = new Set<Promise<unknown>>();
	/** Of each channel, the newest publication under way. */
	private readonly sending = new Map<string, Sending>();
	/** By channel: sent when this turn is over. */
	private readonly gathered = new Map<string, Gathered>();
	/** Channels to publish `lost` to. */
	private readonly lost = new Set<string>();
	/** First attempts to subscribe that have no answer yet. */
	private readonly subscribing = new Set<Promise<void>>();
	/** Channels to subscribe again. */
	private readonly missing = new Set<string>();
	/** While channels are missing. */
	private restoring: Promise<void> | null = null;
	/** Ends the pause before the next attempt. */
	private wake: () => void = () => undefined;
	/** From the loss of a connection until everything is subscribed again. */
	private isGap = false;
	private closed = false;
	/** The node that has a channel's slot, as far as the client knows. */
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
		const nodeOfTag = nodesOf(commands);
		this.nodeOf = (channel) => nodeOfTag(keys.tagOf(channel));
		this.pulse = new Pulse({
			nodes: () => (this.listened.size === 0 ? [] : masters(commands)),
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
		this.sendGathered(channel);
		void this.whenReceiving(channel, () => this.send(channel, () => this.commands.spublish(channel, text)));
	}

	/** Those of one turn share a promise. */
	publishAs(publisher: Publisher, topic: Topic, message: BusMessage): Promise<boolean> {
		const channel = this.keys.channel(topic);
		const text = JSON.stringify(message);
		const open = this.gathered.get(channel);
		if (open && isSame(open.publisher, publisher) && open.texts.length < MOST_GATHERED) {
			open.texts.push(text);
			return open.published.promise;
		}
		this.sendGathered(channel);
		if (this.gathered.size === 0) queueMicrotask(() => this.sendAllGathered());
		const gathered: Gathered = { publisher, texts: [text], published: Promise.withResolvers() };
		this.gathered.set(channel, gathered);
		return gathered.published.promise;
	}

	private sendAllGathered(): void {
		for (const channel of [...this.gathered.keys()]) this.sendGathered(channel);
	}

	private sendGathered(channel: string): void {
		const gathered = this.gathered.get(channel);
		if (!gathered) return;
		this.gathered.delete(channel);
		const { texts, published } = gathered;
		const { partition, generation } = gathered.publisher;
		const arguments_ = [channel, partition, generation, PUBLISHERS_SECONDS, ...texts];
		const publish = () => this.commands.publishOwned(this.keys.publishers(channel), ...arguments_);
		published.resolve(
			this.whenReceiving(channel, () => this.send(channel, publish)).then((result) => result !== 0),
		);
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
		this.missing.delete(channel);
		this.sendWaiting(listened);
		if (!this.closed) this.track(this.subscriber.unsubscribe(channel));
	}

	async ready(): Promise<void> {
		while (!this.closed && (this.subscribing.size > 0 || this.restoring))
			await Promise.all([this.restoring, ...this.subscribing]);
	}

	isReceiving(topic: Topic): boolean {
		const listened = this.listened.get(this.keys.channel(topic));
		return listened?.isReceived === true && !listened.isSilent;
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
		this.sendAllGathered();
		while (this.underWay.size > 0) await Promise.all(this.underWay);
	}

	close(): void {
		this.closed = true;
		this.pulse.stop();
		this.listened.clear();
		this.missing.clear();
		this.wake();
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
			isReceived: false,
			losses: 0,
			hasMoved: false,
			isSilent: false,
			node: '',
		};
		this.listened.set(channel, listened);
		const first = this.attempt(channel, listened).finally(() => {
			this.subscribing.delete(first);
			this.sendWaiting(listened);
		});
		this.subscribing.add(first);
		this.track(first);
		return listened;
	}

	/** Never fails: what is not subscribed is tried again until it is, or nobody listens any more. */
	private async attempt(channel: string, listened: Listened): Promise<void> {
		const { losses } = listened;
		const isWanted = (): boolean => !this.closed && this.listened.get(channel) === listened;
		listened.node = this.nodeOf(channel);
		try {
			await this.subscriber.subscribe(channel);
			if (!isWanted()) return;
			// Else a connection confirmed it that is gone.
			if (listened.losses === losses) this.confirmed(channel, listened);
			else this.restore(channel);
		} catch (error) {
			if (!isWanted()) return;
			this.hooks.onError(error as Error);
			this.restore(channel);
		}
	}

	private confirmed(channel: string, listened: Listened): void {
		listened.isReceived = true;
		this.missing.delete(channel);
		if (!listened.hasMoved) return;
		listened.hasMoved = false;
		for (const handler of listened.handlers) handler(SOMETHING_LOST, listened.topic);
	}

	private restore(channel: string): void {
		this.missing.add(channel);
		this.restoring ??= this.restoreMissing();
	}

	private async restoreMissing(): Promise<void> {
		// What is lost together is found missing in one turn.
		await Promise.resolve();
		while (this.missing.size > 0) {
			const attempts = [...this.missing].flatMap((channel) => {
				const listened = this.listened.get(channel);
				// What waits for its connection would fail by its time limit: the connection wakes this.
				return listened && !this.subscriber.isConnecting(this.nodeOf(channel))
					? [this.attempt(channel, listened)]
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
			const timer = setTimeout(resolve, TRY_AGAIN_MS);
			this.wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}

	private sendWaiting(listened: Listened): void {
		for (const publish of listened.waiting ?? []) publish();
		listened.waiting = null;
	}

	/** Once what this process subscribed to before is confirmed. */
	private whenReceiving(channel: string, publish: () => Promise<unknown>): Promise<unknown> {
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

	private lose(channel: string, error: Error): never {
		if (this.lost.size === 0) setTimeout(() => this.publishLost(), TRY_AGAIN_MS).unref();
		this.lost.add(channel);
		throw error;
	}

	/** Again and again, until Redis has taken it. */
	private publishLost(): void {
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
		this.hooks.onError(new Error(`the subscription to ${where} no longer receives live messages`));
		this.subscriber.drop(node);
		this.interrupt(node);
	}

	private interrupt(node: string): void {
		if (this.closed) return;
		let isAnyLost = false;
		for (const [channel, listened] of this.listened) {
			if (listened.node !== node) continue;
			listened.losses += 1;
			if (!listened.isReceived) continue;
			listened.isReceived = false;
			isAnyLost = true;
			this.restore(channel);
		}
		if (!isAnyLost || this.isGap) return;
		this.isGap = true;
		this.hooks.onGap();
	}

	private followMoved(): void {
		for (const [channel, listened] of this.listened) {
			if (!listened.isReceived || listened.node === this.nodeOf(channel)) continue;
			listened.isReceived = false;
			listened.hasMoved = true;
			this.restore(channel);
		}
		this.wake();
	}
}

const isSame = (one: Publisher, other: Publisher): boolean =>
	one.partition === other.partition && one.generation === other.generation;
