import {
	type Commands,
	connectCommands,
	makeSubscriber,
	type RedisAddress,
} from '../../src/engine/cluster/redis/connection.ts';
import type { Keys } from '../../src/engine/cluster/redis/keys.ts';

/** The Redis and the Redis Cluster that tests run on. Without them tests fail: nothing is skipped silently. */

export const LAYOUTS = ['redis', 'redis-cluster'] as const;
export type Layout = (typeof LAYOUTS)[number];

const VARIABLES: Readonly<Record<Layout, string>> = {
	redis: 'TIDEMARK_TEST_REDIS_URL',
	'redis-cluster': 'TIDEMARK_TEST_REDIS_CLUSTER_URL',
};

/** Makes prefixes unique: process ids are reused while Redis keeps running. */
const BEGAN = Date.now().toString(36);
let places = 0;

/** A separate prefix on the Redis of this layout: the shared one, or that of a test's own services. */
export function redisPlace(
	layout: Layout,
	services: Readonly<Record<string, string | undefined>> = process.env,
): RedisAddress {
	const variable = VARIABLES[layout];
	const url = services[variable];
	if (!url)
		throw new Error(
			`${variable} is not set: there is no ${layout} to test on. ` +
				`Start one with scripts/services up ${layout}, or run the tests with npm test, which does.`,
		);
	places += 1;
	return { url, cluster: layout === 'redis-cluster', prefix: `t${process.pid}-${BEGAN}-${places}:` };
}

const report = (error: Error): void => console.error(error);

export async function connectBoth(place: RedisAddress) {
	const commands: Commands = await connectCommands(place, report);
	const subscriber = makeSubscriber(place, commands, report);
	return {
		commands,
		subscriber,
		close: () => {
			subscriber.close();
			commands.disconnect();
		},
	};
}

/** Removes every key with this prefix. */
export async function removeKeys(commands: Commands, prefix: string): Promise<void> {
	const nodes = 'nodes' in commands ? commands.nodes('master') : [commands];
	for (const node of nodes)
		for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
			const [next, found] = await node.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000);
			await Promise.all(found.map((key) => commands.unlink(key)));
			cursor = next;
		}
}

/** Disconnects all subscribers, including those of other tests: only for a Redis of the test's own. */
export async function cutSubscribers(commands: Commands): Promise<void> {
	const nodes = 'nodes' in commands ? commands.nodes('master') : [commands];
	for (const node of nodes) await node.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
}

/** Makes every process load the conversation from the store again. */
export async function invalidateCopies(
	commands: Commands,
	keys: Keys,
	conversation: string,
	base = 1,
): Promise<void> {
	await commands.hset(keys.meta(conversation), 'base', base);
	await commands.del(keys.version(conversation));
}

/**
 * Damages a conversation: to every process, the message seems to be deleted. `root`: for a reply, the ts of
 * its root.
 */
export async function loseMessage(
	commands: Commands,
	keys: Keys,
	conversation: string,
	ts: number,
	root = 0,
): Promise<void> {
	const stamp = Number(await commands.hget(keys.meta(conversation), 'stamp')) + 1;
	const change = `${stamp} delete;${ts};U0;0;;${root === 0 ? 1 : 0};${root}`;
	await commands.hset(keys.meta(conversation), 'newest', stamp);
	await commands.zadd(keys.recent(conversation), stamp, change);
	await invalidateCopies(commands, keys, conversation, Date.now());
}
