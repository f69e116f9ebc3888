import { Cluster, Redis } from 'ioredis';
import { SPREAD_SLOTS } from '../../src/engine/cluster/redis/markers.ts';
import { slotOf } from '../../src/engine/cluster/redis/slots.ts';

/**
 * What a test does to Redis without the server's knowledge. Only `emptyInstallation` may be used on a Redis
 * that other tests share.
 */

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

/** Only the node with this address. */
export const emptyOneNode = (url: string): Promise<unknown> => onNode(url, (node) => node.flushall());

/** The node saves its current data for a later start. */
export const saveOneNode = (url: string): Promise<unknown> => onNode(url, (node) => node.save());

/** The node exits without saving, so that another process can take its place. */
export const endOneNode = (url: string): Promise<unknown> =>
	onNode(url, (node) => node.shutdown('NOSAVE').catch(() => undefined));

async function onNode<T>(url: string, work: (node: Redis) => Promise<T>): Promise<T> {
	const node = new Redis(url, { retryStrategy: () => null });
	try {
		return await work(node);
	} finally {
		node.disconnect();
	}
}

async function keysOf(node: Redis, pattern = '*'): Promise<string[]> {
	const found: string[] = [];
	for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
		const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
		found.push(...keys);
		cursor = next;
	}
	return found;
}

/** Some slots with keys on the node with this address. */
export const slotsInUse = (url: string, most: number): Promise<number[]> =>
	onNode(url, async (node) => {
		const tags = (await keysOf(node)).map(tagOf);
		return [...new Set(tags.map(slotOf))].slice(0, most);
	});

/** Moves a slot with all its keys to another node; runs the callback after each key. */
export async function moveSlot(
	url: string,
	slot: number,
	afterKey: (key: string) => Promise<void> = async () => undefined,
): Promise<void> {
	const nodes = await onMasters(url, async ({ options }) => {
		const node = new Redis({ host: options.host ?? '', port: options.port ?? 0 });
		const [id, keys] = [await node.cluster('MYID'), await node.cluster('GETKEYSINSLOT', slot, 1000)];
		return { node, id, keys: keys as string[] };
	});
	const from = nodes.find(({ keys }) => keys.length > 0);
	const to = nodes.find((one) => one !== from);
	if (!from || !to) throw new Error(`nothing is in slot ${slot}`);
	const { host = '', port = 0 } = to.node.options;
	await to.node.cluster('SETSLOT', slot, 'IMPORTING', from.id);
	await from.node.cluster('SETSLOT', slot, 'MIGRATING', to.id);
	for (const key of from.keys.sort()) {
		await from.node.migrate(host, port, key, 0, 1000);
		await afterKey(key);
	}
	for (const { node } of [to, ...nodes.filter((one) => one !== to)])
		await node.cluster('SETSLOT', slot, 'NODE', to.id);
	for (const { node } of nodes) node.disconnect();
}

/**
 * For each of the 32 markers that are spread over the slots (markers.ts), by its key: when the epoch of its
 * node began, in microseconds.
 */
export async function epochs(url: string): Promise<Map<string, number>> {
	const found = await onMasters(url, async (node) => {
		const values: [string, number][] = [];
		for (const key of await keysOf(node, '*:epoch3')) {
			if (!SPREAD_SLOTS.includes(slotOf(tagOf(key)))) continue;
			const value = await node.get(key);
			if (value !== null) values.push([key, Number(value.split(' ')[0])]);
		}
		return values;
	});
	return new Map(found.flat());
}

/** The hash tag of a key. */
export const tagOf = (key: string): string => /\{(.*?)\}/.exec(key)?.[1] ?? key;

/** Resolves with a function that says whether the slot of a hash tag is on the node with this address. */
export const isOnNodeAt = (url: string): Promise<(tag: string) => boolean> =>
	onNode(url, async (node) => {
		const id = await node.cluster('MYID');
		const ranges = await node.cluster('SLOTS');
		const own = ranges.filter(([, , master]) => master?.[2] === id);
		return (tag) => own.some(([first, last]) => slotOf(tag) >= first && slotOf(tag) <= last);
	});

/** Removes everything of one installation from a shared Redis. */
export const emptyInstallation = (url: string, installation: string): Promise<unknown> =>
	onMasters(url, async (node) => {
		for (const key of await keysOf(node, `${installation}:*`)) await node.unlink(key);
	});

/** Makes clients reach the node with this address through another port. */
export const announcePort = (url: string, port: number): Promise<unknown> =>
	onNode(url, (node) => node.config('SET', 'cluster-announce-port', String(port)));

/** Makes the replica with this address the master, in agreement with the current one. */
export const promote = (url: string): Promise<unknown> => onNode(url, (node) => node.cluster('FAILOVER'));

/** Resolves when the node with this address is a replica that has all of its master's data. */
export const demoted = (url: string): Promise<void> =>
	onNode(url, async (node) => {
		for (let info = ''; !(info.includes('role:slave') && info.includes('master_link_status:up')); )
			info = await Bun.sleep(100).then(() => node.info('replication'));
	});
