import { Redis } from 'ioredis';

/** Whether this is a node of a Redis Cluster: asked, so that nobody has to say it. */
export async function findLayout(url: string): Promise<boolean> {
	const node = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null });
	// The reason comes with the rejection.
	node.on('error', () => undefined);
	try {
		await node.connect();
		return /^cluster_enabled:1/m.test(await node.info('cluster'));
	} catch (error) {
		const { hostname, port } = new URL(url);
		throw new Error(`Redis at ${hostname}:${port || 6379} is not reachable: ${(error as Error).message}`, {
			cause: error,
		});
	} finally {
		node.disconnect();
	}
}
