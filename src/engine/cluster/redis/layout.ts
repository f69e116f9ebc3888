import { Redis } from 'ioredis';

export interface Layout {
	/** It is a node of a Redis Cluster: asked, so that nobody has to say it. */
	readonly cluster: boolean;
	/** What it is allowed to throw out when memory is short; null where it does not say. */
	readonly evicts: string | null;
	readonly version: string;
	/** What its clock says. */
	readonly nowMs: number;
}

export async function findLayout(url: string): Promise<Layout> {
	const node = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null });
	// The reason comes with the rejection.
	node.on('error', () => undefined);
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
		throw new Error(`Redis at ${hostname}:${port || 6379} is not reachable: ${(error as Error).message}`, {
			cause: error,
		});
	} finally {
		node.disconnect();
	}
}
