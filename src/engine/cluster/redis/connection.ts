import { type Cluster, Redis } from 'ioredis';
import { FollowingCluster } from './following-cluster.ts';
import { defineScripts, type Scripts } from './scripts.ts';

/**
 * Connections to one Redis or to a Redis Cluster. What follows uses both alike: every script keeps to one
 * slot, and commands of one turn go out as one pipeline for each node.
 */

export interface RedisPlace {
	/** One node is enough to find the others of a cluster. */
	readonly url: string;
	/** Authorities that its certificate is checked by, for rediss://; PEM. */
	readonly ca?: string;
	readonly cluster: boolean;
	/** Before every key and channel, so that several installations share a Redis. */
	readonly prefix: string;
}

/** For state: commands and scripts. */
export type Commands = (Redis | Cluster) & Scripts;

/** For sharded pub/sub: a connection that subscribes can do nothing else. */
export type Subscriber = Redis | Cluster;

/**
 * Reconnecting is endless and patient; a command that waits longer than this fails and can be repeated. It may arrive all the
 * same, whenever the network is back: what must not come late is refused by its script (fence.ts).
 */
const COMMAND_TIMEOUT_MS = 3_000;
const LONGEST_PAUSE_MS = 1_000;
/** A node that fell silent, and was replaced, tells nobody to go elsewhere. ioredis means to look every 5 s by itself, and does not. */
const LOOK_AGAIN_MS = 5_000;
/** Of a cluster that is down, or a slot that is moving: 100 ms each, so that whoever asked is told within a second. */
const MOST_ATTEMPTS = 8;
const pause = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_PAUSE_MS);

export async function connectCommands(place: RedisPlace, onError: (error: Error) => void): Promise<Commands> {
	return defineScripts(await connect(place, { enableAutoPipelining: true }, onError));
}

export async function connectSubscriber(
	place: RedisPlace,
	onError: (error: Error) => void,
): Promise<Subscriber> {
	return connect(place, {}, onError);
}

/** Authorities of its own, where there are any; else the usual ones. */
export const tlsOf = ({ url, ca }: Pick<RedisPlace, 'url' | 'ca'>): { tls?: { ca?: string } } =>
	new URL(url).protocol === 'rediss:' ? { tls: ca === undefined ? {} : { ca } } : {};

/** The nodes that sharded subscriptions are spread over, by the names that `nodesOf` gives them. */
export const subscribedNodes = (subscriber: Subscriber): string[] =>
	'nodes' in subscriber
		? subscriber.nodes('master').map(({ options: { host, port } }) => `${host}:${port}`)
		: [''];

/** What ioredis keeps for each node, and does not export. */
interface ShardedSubscribers {
	readonly shardedSubscribers?: {
		readonly shardedSubscribers: ReadonlyMap<string, { getInstance(): Redis | null }>;
	};
}

/** Closes the connection that a node delivers over, without waiting for an answer: the client then makes another one. */
export function dropSubscription(subscriber: Subscriber, node: string): void {
	const connection =
		'nodes' in subscriber
			? (subscriber as unknown as ShardedSubscribers).shardedSubscribers?.shardedSubscribers
					.get(node)
					?.getInstance()
			: subscriber;
	(connection as { stream?: { destroy(): void } } | null | undefined)?.stream?.destroy();
}

async function connect(
	place: RedisPlace,
	options: { readonly enableAutoPipelining?: boolean },
	onError: (error: Error) => void,
): Promise<Redis | Cluster> {
	const { hostname, port, username, password } = new URL(place.url);
	const redisOptions = {
		...(username ? { username: decodeURIComponent(username) } : {}),
		...(password ? { password: decodeURIComponent(password) } : {}),
		...tlsOf(place),
		commandTimeout: COMMAND_TIMEOUT_MS,
		// Where nobody answers, trying again is what finds out that somebody does.
		connectTimeout: COMMAND_TIMEOUT_MS,
		maxRetriesPerRequest: null,
		// Whoever sent it is told, and decides: it may have been carried out.
		autoResendUnfulfilledCommands: false,
	};
	const node = { host: hostname, port: Number(port || 6379) };
	const client = place.cluster
		? new FollowingCluster([node], {
				...options,
				redisOptions,
				shardedSubscribers: true,
				clusterRetryStrategy: pause,
				slotsRefreshInterval: LOOK_AGAIN_MS,
				maxRedirections: MOST_ATTEMPTS,
				lazyConnect: true,
			})
		: new Redis({ ...node, ...options, ...redisOptions, retryStrategy: pause, lazyConnect: true });
	client.on('error', onError);
	try {
		await client.connect();
	} catch (error) {
		client.disconnect();
		throw new Error(`Redis at ${hostname}:${node.port} is not reachable: ${error}`, { cause: error });
	}
	return client;
}
