import { EventEmitter } from 'node:events';
import { Redis, type RedisOptions } from 'ioredis';

/**
 * Sharded subscriptions: one connection to each node that carries a subscribed channel.
 *
 * The sharded subscriptions of ioredis are not used. Where a cluster is lost while one of its subscriber connections is being
 * made, ioredis waits for that connection for good, and receives nothing until the process ends.
 *
 * Subscriptions are not renewed here: the bus gets `lost` when a connection closes and `connected` when it is
 * back, and subscribes again. So one place decides what is subscribed (bus.ts).
 */

/** Without what its constructor does not take. */
type Options = Omit<RedisOptions, 'replyMapping'>;

interface Events {
	message: [channel: string, text: string];
	/** The connection to this node closed: nothing is subscribed there any more. */
	lost: [node: string];
	connected: [node: string];
	/** Slots may have moved: a node ended subscriptions by itself, or does not accept one. */
	moved: [];
	error: [error: Error];
}

interface Connection {
	readonly redis: Redis;
	readonly channels: Set<string>;
}

export interface SubscriberParts {
	/** Host and port are those of the node. */
	readonly options: Options;
	/** Where a channel is subscribed, as `host:port`; with one Redis always the same. */
	nodeOf(channel: string): string;
}

export class Subscriber extends EventEmitter<Events> {
	private readonly connections = new Map<string, Connection>();
	/** The node that each channel was subscribed at last. */
	private readonly subscribedAt = new Map<string, string>();
	private closed = false;

	constructor(private readonly parts: SubscriberParts) {
		super();
	}

	/** Resolves when the node has confirmed it. Repeating it is harmless. */
	async subscribe(channel: string): Promise<void> {
		if (this.closed) throw new Error('the subscriber is closed');
		const node = this.parts.nodeOf(channel);
		const before = this.subscribedAt.get(channel);
		if (before !== undefined && before !== node) void this.unsubscribe(channel).catch(() => undefined);
		const { redis, channels } = this.connections.get(node) ?? this.connect(node);
		channels.add(channel);
		this.subscribedAt.set(channel, node);
		await redis.ssubscribe(channel);
	}

	/** A node's connection is closed with its last channel. */
	async unsubscribe(channel: string): Promise<void> {
		const node = this.subscribedAt.get(channel);
		if (node === undefined) return;
		this.subscribedAt.delete(channel);
		const connection = this.connections.get(node);
		if (!connection) return;
		connection.channels.delete(channel);
		if (connection.channels.size === 0) this.disconnect(node, connection);
		else await connection.redis.sunsubscribe(channel);
	}

	/** `connected` follows, unless the node is gone for good. */
	isConnecting(node: string): boolean {
		const status = this.connections.get(node)?.redis.status;
		return status !== undefined && status !== 'ready';
	}

	/** Closes a node's connection without waiting for an answer; it is made again at once. */
	drop(node: string): void {
		(this.connections.get(node)?.redis as { stream?: { destroy(): void } } | undefined)?.stream?.destroy();
	}

	close(): void {
		this.closed = true;
		for (const [node, connection] of this.connections) this.disconnect(node, connection);
		this.subscribedAt.clear();
	}

	private connect(node: string): Connection {
		const options: Options = {
			...this.parts.options,
			...addressOf(node),
			// A connection that subscribes answers nothing else, so there is nothing to check.
			enableReadyCheck: false,
			autoResubscribe: false,
			lazyConnect: true,
		};
		const redis = new Redis(options);
		const connection: Connection = { redis, channels: new Set() };
		const isCurrent = (): boolean => this.connections.get(node) === connection;
		redis.on('smessage', (channel: string, text: string) => {
			if (isCurrent()) this.emit('message', channel, text);
		});
		redis.on('ready', () => {
			if (isCurrent()) this.emit('connected', node);
		});
		redis.on('close', () => {
			if (isCurrent()) this.emit('lost', node);
		});
		redis.on('moved', () => {
			if (isCurrent()) this.emit('moved');
		});
		redis.on('error', (error: Error) => {
			if (isCurrent()) this.emit('error', error);
		});
		this.connections.set(node, connection);
		redis.connect().catch(() => undefined);
		return connection;
	}

	private disconnect(node: string, { redis }: Connection): void {
		this.connections.delete(node);
		redis.disconnect();
	}
}

/** Of an IPv6 address too: the port stands after the last colon. */
function addressOf(node: string): Options {
	const end = node.lastIndexOf(':');
	return end < 0 ? {} : { host: node.slice(0, end), port: Number(node.slice(end + 1)) };
}
