import { type Cluster, Redis } from 'ioredis';
import { translating } from './failure-cause.ts';
import { FollowingCluster } from './following-cluster.ts';
import { Keys } from './keys.ts';
import { nodesOf } from './nodes.ts';
import { defineScripts, type Scripts } from './scripts.ts';
import { Subscriber } from './subscriber.ts';

/**
 * Connections to one Redis or to a Redis Cluster. What follows uses both alike: every script keeps to one
 * slot, and commands of one turn go out as one pipeline for each node.
 */

export interface RedisAddress {
	/** One node is enough to find the others of a cluster. */
	readonly url: string;
	/** Authorities that its certificate is checked by, for rediss://; PEM. */
	readonly ca?: string;
	readonly cluster: boolean;
	/** Before every key and channel, so that several installations share a Redis. */
	readonly prefix: string;
}

/** For state: commands and scripts. Their errors are those of failure-cause.ts. */
export type Commands = (Redis | Cluster) & Scripts;

/**
 * Reconnecting is endless and patient; a command that waits longer than this fails and can be repeated. It may arrive all the
 * same, whenever the network is back: what must not come late is refused by its script (fence.ts).
 */
const COMMAND_TIMEOUT_MS = 3_000;
const LONGEST_PAUSE_MS = 1_000;
/** A silent node that was replaced redirects nobody. ioredis is meant to refresh every 5 s by itself, and does not. */
const LOOK_AGAIN_MS = 5_000;
/** Of a cluster that is down, or a slot that is moving: 100 ms each, so that the caller gets an error within a second. */
const MOST_ATTEMPTS = 8;
const pause = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_PAUSE_MS);

/** ioredis gives a cluster 1 s to name its slots when it connects, which is short where many processes start at once. */
const CONNECT_ATTEMPTS = 3;

export async function connectCommands(
	address: RedisAddress,
	onError: (error: Error) => void,
): Promise<Commands> {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await connectOnce(address, onError);
		} catch (error) {
			if (attempt === CONNECT_ATTEMPTS) throw error;
		}
	}
}

async function connectOnce(address: RedisAddress, onError: (error: Error) => void): Promise<Commands> {
	const redisOptions = optionsOf(address);
	const { host, port } = addressOf(address);
	const client = address.cluster
		? new FollowingCluster([{ host, port }], {
				enableAutoPipelining: true,
				redisOptions,
				clusterRetryStrategy: pause,
				slotsRefreshInterval: LOOK_AGAIN_MS,
				maxRedirections: MOST_ATTEMPTS,
				lazyConnect: true,
			})
		: new Redis({
				host,
				port,
				enableAutoPipelining: true,
				...redisOptions,
				retryStrategy: pause,
				lazyConnect: true,
			});
	client.on('error', onError);
	try {
		await client.connect();
	} catch (error) {
		client.disconnect();
		throw new Error(`Redis at ${host}:${port} is not reachable: ${error}`, { cause: error });
	}
	return translating(defineScripts(client));
}

/** Subscribes at the nodes that `commands` knows: slots and nodes are looked up in one place. */
export function makeSubscriber(
	address: RedisAddress,
	commands: Commands,
	onError: (error: Error) => void,
): Subscriber {
	const keys = new Keys(address.prefix);
	const nodeOf = nodesOf(commands);
	const subscriber = new Subscriber({
		options: { ...addressOf(address), ...optionsOf(address), retryStrategy: pause },
		nodeOf: (channel) => nodeOf(keys.tagOf(channel)),
	});
	subscriber.on('error', onError);
	subscriber.on('moved', () => {
		if ('refreshSlotsCache' in commands) commands.refreshSlotsCache();
	});
	return subscriber;
}

/** The nodes that have slots, by the names that `nodesOf` gives them. */
export const masters = (commands: Commands): string[] =>
	'nodes' in commands
		? commands.nodes('master').map(({ options: { host, port } }) => `${host}:${port}`)
		: [''];

/** Authorities of its own, where there are any; else the usual ones. */
export const tlsOf = ({ url, ca }: Pick<RedisAddress, 'url' | 'ca'>): { tls?: { ca?: string } } =>
	new URL(url).protocol === 'rediss:' ? { tls: ca === undefined ? {} : { ca } } : {};

function addressOf({ url }: RedisAddress): { host: string; port: number } {
	const { hostname, port } = new URL(url);
	return { host: hostname, port: Number(port || 6379) };
}

function optionsOf(address: RedisAddress) {
	const { username, password } = new URL(address.url);
	return {
		...(username ? { username: decodeURIComponent(username) } : {}),
		...(password ? { password: decodeURIComponent(password) } : {}),
		...tlsOf(address),
		commandTimeout: COMMAND_TIMEOUT_MS,
		// Where nobody answers, trying again is what finds out that somebody does.
		connectTimeout: COMMAND_TIMEOUT_MS,
		maxRetriesPerRequest: null,
		// The sender gets an error, and decides: it may have been carried out.
		autoResendUnfulfilledCommands: false,
	};
}
