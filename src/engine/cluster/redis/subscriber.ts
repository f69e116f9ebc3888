import { EventEmitter } from 'node:events';
import { Redis, type RedisOptions } from 'ioredis';

/**
 * Sharded subscriptions: one connection to each node that has a subscribed channel.
 *
 * The sharded subscriptions of ioredis are not used: if a cluster is lost while one of its subscriber connections is being
 * opened, ioredis waits for that connection forever, and receives nothing until the process ends.
 *
 * This class does not renew subscriptions: the bus gets `lost` when a connection closes and `connected` when it is
 * open again, and subscribes again. So one place decides what is subscribed (bus.ts).
 */

/** Without the option that the constructor does not accept. */
type Options = Omit<RedisOptions, 'replyMapping'>;

interface Events {
	message: [channel: string, text: string];
	/** The connection to this node was closed, and its subscriptions with it. */
	lost: [node: string];
	connected: [node: string];
	/** Slots may have moved: a node ended subscriptions by itself, or rejected one. */
	moved: [];
	error: [error: Error];
}

interface Connection {
	readonly redis: Redis;
	readonly channels: Set<string>;
}

export interface SubscriberParts {
	/** Host and port are set to those of the node. */
	readonly options: Options;
	/** The node of a channel, as `host:port`; always the same for a single Redis. */
	nodeOf(channel: string): string;
}

export class Subscriber extends EventEmitter<Events> {
	private readonly connections = new Map<string, Connection>();
	/** The node where each channel was last subscribed. */
	private readonly subscribedAt = new Map<string, string>();
	private closed = false;

	constructor(private readonly parts: SubscriberParts) {
		super();
	}

	/** Resolves when the node has confirmed the subscription. Repeating it is harmless. */
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

	/** Also closes the node's connection if it has no other channel. */
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

	/** True until `connected`, unless the node was removed. */
	isConnecting(node: string): boolean {
		const status = this.connections.get(node)?.redis.status;
		return status !== undefined && status !== 'ready';
	}

	/** Closes a node's connection without waiting for an answer; the client reconnects at once. */
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
			// A subscriber connection answers no other commands, so the check would fail.
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

/** Also for IPv6: the port follows the last colon. */
function addressOf(node: string): Options {
	const end = node.lastIndexOf(':');
	return end < 0 ? {} : { host: node.slice(0, end), port: Number(node.slice(end + 1)) };
}
