import { Cluster, Redis } from 'ioredis';

/** What a test does to a Redis Cluster of its own behind the server's back. */

async function onMasters<T>(url: string, work: (node: Redis) => Promise<T>): Promise<T[]> {
	const { hostname, port } = new URL(url);
	const cluster = new Cluster([{ host: hostname, port: Number(port) }], { lazyConnect: true });
	await cluster.connect();
	try {
		return await Promise.all(cluster.nodes('master').map(work));
	} finally {
		cluster.disconnect();
	}
}

export const emptyRedis = (url: string): Promise<unknown> => onMasters(url, (node) => node.flushall());

/** Only the node of this address. */
export const emptyOneNode = (url: string): Promise<unknown> => onNode(url, (node) => node.flushall());

async function onNode<T>(url: string, work: (node: Redis) => Promise<T>): Promise<T> {
	const node = new Redis(url, { retryStrategy: () => null });
	try {
		return await work(node);
	} finally {
		node.disconnect();
	}
}

/** The values under the epoch's keys, without repetitions: one where Redis is whole. */
export async function epochs(url: string): Promise<string[]> {
	const found = await onMasters(url, async (node) => {
		const values: (string | null)[] = [];
		for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
			const [next, keys] = await node.scan(cursor, 'MATCH', '*:epoch', 'COUNT', 1000);
			for (const key of keys) values.push(await node.get(key));
			cursor = next;
		}
		return values;
	});
	return [...new Set(found.flat().filter((value) => value !== null))];
}
