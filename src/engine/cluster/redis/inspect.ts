import { Redis } from 'ioredis';
import { type RedisAddress, tlsOf } from './connection.ts';

/** Inspects one Redis node without changing anything. */

export interface InspectedRedis {
	/** Whether Redis reports itself as a node of a Redis Cluster. */
	readonly cluster: boolean;
	/** The policy by which Redis evicts keys when memory is low; null if unknown. */
	readonly evicts: string | null;
	readonly version: string;
	/** Time of the node's clock. */
	readonly nowMs: number;
}

export async function inspectRedis(address: Pick<RedisAddress, 'url' | 'ca'>): Promise<InspectedRedis> {
	const { url } = address;
	const node = new Redis(url, {
		...tlsOf(address),
		lazyConnect: true,
		maxRetriesPerRequest: 1,
		retryStrategy: () => null,
	});
	// The rejection may only say that the connection is closed; this event has the reason.
	let reason: Error | undefined;
	node.on('error', (error) => {
		reason ??= error;
	});
	try {
		await node.connect();
		const [cluster, memory] = [await node.info('cluster'), await node.info('memory')];
		const server = await node.info('server');
		const [seconds, micros] = await node.time();
		return {
			version: /^redis_version:(\S+)/m.exec(server)?.[1] ?? '',
			nowMs: Number(seconds) * 1000 + Number(micros) / 1000,
			cluster: /^cluster_enabled:1/m.test(cluster),
			evicts: /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? null,
		};
	} catch (error) {
		const { hostname, port } = new URL(url);
		const { message } = reason ?? (error as Error);
		// A server without TLS does not answer the handshake: the connection times out.
		const how = tlsOf(address).tls ? ' over TLS' : '';
		throw new Error(`Redis cannot be used at ${hostname}:${port || 6379}${how}: ${message}`, {
			cause: error,
		});
	} finally {
		node.disconnect();
	}
}
