import { type Cluster, Redis } from 'ioredis';
import './tracing-channels.ts';
import { translating } from './failure-cause.ts';
import { FollowingCluster } from './following-cluster.ts';
import { Keys } from './keys.ts';
import { defineScripts, type Scripts } from './scripts.ts';
import { nodesOf, slotOf } from './slots.ts';
import { Subscriber } from './subscriber.ts';

/**
 * Connections to one Redis or to a Redis Cluster. Callers use both in the same way: all keys of a script are
 * on one node, and commands of one turn are pipelined per node.
 */

export interface RedisAddress {
	/** One node is enough: it names the others of a cluster. */
	readonly url: string;
	/** Certificate authorities (PEM) to verify the server with, for rediss://. */
	readonly ca?: string;
	readonly cluster: boolean;
	/** Prefix of every key and channel, so that several installations can share a Redis. */
	readonly prefix: string;
}

/** Client for commands and scripts. Its errors are those of failure-cause.ts. */
export type Commands = (Redis | Cluster) & Scripts;

/**
 * The client reconnects forever; a command that waits longer than this fails and can be retried. A failed command may still arrive
 * when the network is back: scripts reject what must not arrive late (epoch-guard.ts).
 */
const COMMAND_TIMEOUT_MS = 3_000;
const LONGEST_PAUSE_MS = 1_000;
/** A node that was replaced and no longer answers sends no redirects, so slots are refreshed at this interval. By default, ioredis never does. */
const REFRESH_MS = 5_000;
/** While a cluster is down or a slot is moving: 100 ms each, so that the caller gets an error within a second. */
const MAX_ATTEMPTS = 8;
const pause = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_PAUSE_MS);

/**
 * ioredis allows a cluster 1 s to name its slots when it connects. A Redis that is slow for longer, as when many processes start at
 * once, must not make a start fail. This time is shorter than the limit of a start, so that a start that does fail shows the error of
 * the client.
 */
const CONNECT_WITHIN_MS = 12_000;

export async function connectCommands(
	address: RedisAddress,
	onError: (error: Error) => void,
): Promise<Commands> {
	const end = performance.now() + CONNECT_WITHIN_MS;
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await connectOnce(address, onError);
		} catch (error) {
			if (performance.now() > end) throw error;
			await Bun.sleep(pause(attempt));
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
				slotsRefreshInterval: REFRESH_MS,
				maxRedirections: MAX_ATTEMPTS,
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
		throw new Error(`Redis cannot be used at ${host}:${port}: ${error}`, { cause: error });
	}
	return translating(defineScripts(client));
}

/** Subscribes at the nodes that `commands` knows, so that slots and nodes are looked up in one place. */
export function makeSubscriber(
	address: RedisAddress,
	commands: Commands,
	onError: (error: Error) => void,
): Subscriber {
	const keys = new Keys(address.prefix);
	const nodeOf = nodesOf(commands);
	const subscriber = new Subscriber({
		options: { ...addressOf(address), ...optionsOf(address), retryStrategy: pause },
		nodeOf: (channel) => nodeOf(slotOf(keys.tagOf(channel))),
	});
	subscriber.on('error', onError);
	subscriber.on('moved', () => {
		if ('refreshSlotsCache' in commands) commands.refreshSlotsCache();
	});
	return subscriber;
}

/** Nodes that have slots, by the names that `nodesOf` uses. */
export const masters = (commands: Commands): string[] =>
	'nodes' in commands
		? commands.nodes('master').map(({ options: { host, port } }) => `${host}:${port}`)
		: [''];

/** Uses the configured authorities, or the system's. */
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
		// A connection attempt without an answer would hang: only a new attempt finds out that the server is reachable again.
		connectTimeout: COMMAND_TIMEOUT_MS,
		maxRetriesPerRequest: null,
		// The caller gets an error and decides: the command may have been executed.
		autoResendUnfulfilledCommands: false,
	};
}
