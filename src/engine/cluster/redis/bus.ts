import type { Bus, BusMessage, Topic } from '../../ports/bus.ts';
import type { Commands, Subscriber } from './connection.ts';
import type { Keys } from './keys.ts';

type Handler = (message: BusMessage) => void;

interface Listened {
	readonly topic: Topic;
	handlers: readonly Handler[];
	/** While Redis has not confirmed the subscription: what this process publishes to the topic waits. */
	waiting: string[] | null;
}

export interface BusHooks {
	/** Messages may have been missed: whoever passes them on has to let its sockets resync. */
	onGap(): void;
	onError(error: Error): void;
}

/**
 * Live messages over sharded pub/sub: each channel lives on the node of its slot, so the load spreads with
 * the conversations. Redis keeps nothing: while a connection is down its messages are lost, which `onGap`
 * tells once it is up and subscribed again.
 *
 * A process hears what it publishes after subscribing: its own messages wait for the confirmation.
 */
export class RedisBus implements Bus {
	private readonly listened = new Map<string, Listened>();
	private readonly underWay = new Set<Promise<unknown>>();
	private interrupted = false;
	private closed = false;

	constructor(
		private readonly commands: Commands,
		private readonly subscriber: Subscriber,
		private readonly keys: Keys,
		private readonly hooks: BusHooks,
	) {
		subscriber.on('smessage', (channel: string, text: string) => this.receive(channel, text));
		for (const event of ['close', '-node', '-subscriber']) subscriber.on(event, () => this.interrupt());
		for (const event of ['ready', 'subscribersReady']) subscriber.on(event, () => this.resume());
	}

	publish(topic: Topic, message: BusMessage): void {
		const channel = this.keys.channel(topic);
		const text = JSON.stringify(message);
		const listened = this.listened.get(channel);
		if (listened?.waiting) listened.waiting.push(text);
		else this.send(channel, text);
	}

	subscribe(topic: Topic, handler: Handler): () => void {
		const channel = this.keys.channel(topic);
		const listened = this.listened.get(channel) ?? this.listen(channel, topic);
		// Lists are replaced, never changed: a delivery under way keeps the one it started with.
		listened.handlers = [...listened.handlers, handler];
		return () => {
			listened.handlers = listened.handlers.filter((one) => one !== handler);
			if (listened.handlers.length > 0 || this.listened.get(channel) !== listened) return;
			this.listened.delete(channel);
			for (const text of listened.waiting ?? []) this.send(channel, text);
			listened.waiting = null;
			if (!this.closed) this.track(this.subscriber.sunsubscribe(channel));
		};
	}

	/** Resolves when everything subscribed and published so far has reached Redis. */
	async settled(): Promise<void> {
		while (this.underWay.size > 0) await Promise.all(this.underWay);
	}

	close(): void {
		this.closed = true;
		this.listened.clear();
	}

	private listen(channel: string, topic: Topic): Listened {
		const listened: Listened = { topic, handlers: [], waiting: [] };
		this.listened.set(channel, listened);
		this.track(
			this.subscriber.ssubscribe(channel).finally(() => {
				for (const text of listened.waiting ?? []) this.send(channel, text);
				listened.waiting = null;
			}),
		);
		return listened;
	}

	private send(channel: string, text: string): void {
		if (!this.closed) this.track(this.commands.spublish(channel, text));
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
		for (const handler of listened.handlers) handler(message);
	}

	private interrupt(): void {
		this.interrupted = true;
	}

	/** The client resubscribes by itself; asking for it once more tells when that is done. */
	private resume(): void {
		if (!this.interrupted || this.closed) return;
		this.interrupted = false;
		const again = [...this.listened.keys()].map((channel) => this.subscribeAgain(channel));
		this.track(Promise.all(again).then(() => this.hooks.onGap()));
	}

	private async subscribeAgain(channel: string): Promise<void> {
		// For a cluster the client keeps a list that would grow by every repetition.
		const ended = this.subscriber.isCluster ? this.subscriber.sunsubscribe(channel) : undefined;
		await Promise.all([ended, this.subscriber.ssubscribe(channel)]);
	}
}
