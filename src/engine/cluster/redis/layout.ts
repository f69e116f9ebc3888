import { Redis } from 'ioredis';
import { type RedisAddress, tlsOf } from './connection.ts';

export interface Layout {
	/** It is a node of a Redis Cluster: asked, so that nobody has to say it. */
	readonly cluster: boolean;
	/** What it is allowed to throw out when memory is short; null where it does not say. */
	readonly evicts: string | null;
	readonly version: string;
	/** What its clock says. */
	readonly nowMs: number;
}

export async function findLayout(address: Pick<RedisAddress, 'url' | 'ca'>): Promise<Layout> {
	const { url } = address;
	const node = new Redis(url, {
		...tlsOf(address),
		lazyConnect: true,
		maxRetriesPerRequest: 1,
		retryStrategy: () => null,
	});
	// What was wrong comes here; the rejection may say no more than that the connection is closed.
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
		// One that does not speak TLS says nothing of it: it waits for more, and so do we.
		const how = tlsOf(address).tls ? ' over TLS' : '';
		throw new Error(`Redis at ${hostname}:${port || 6379} is not reachable${how}: ${message}`, {
			cause: error,
		});
	} finally {
		node.disconnect();
	}
}
