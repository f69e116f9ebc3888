import { afterAll, beforeAll, expect, test } from 'bun:test';
import { checkAll, tell } from '../support/chaos/check.ts';
import { type Load, startLoad } from '../support/chaos/load.ts';
import { type Member, startCluster, type TestCluster } from '../support/cluster.ts';
import { makeCast } from '../support/kill-cast.ts';
import { type Book, type Cast, newBook } from '../support/kill-load.ts';
import { emptyRedis, epochs } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/**
 * Parts of a cluster die under load. Nothing that was acknowledged is lost, nothing is there twice, and every count is what
 * a recount gives.
 */

let services: OwnServices;
let cluster: TestCluster;
let cast: Cast;
const book: Book = newBook();
let rounds = 0;

beforeAll(async () => {
	// Redis is emptied here: nobody else may be using it.
	services = await ownServices('redis-cluster');
	cluster = await startCluster({ services: { ...process.env, ...services.env } });
	cast = await makeCast(cluster.url, book);
}, 120_000);
afterAll(async () => {
	await cluster?.stop();
	await services?.down();
}, 60_000);

/** Load before, while and after this happens; then everything is looked at. */
async function underLoad(what: string, happens: (load: Load) => Promise<void>): Promise<void> {
	rounds += 1;
	const load = startLoad(cluster.url, cast, book, rounds);
	await load.acknowledged(300);
	await happens(load);
	await load.acknowledged(300);
	await load.stop();
	await checkAll(cluster.url, cast, book);
	tell(what, book, load.repeats);
}

const redisUrl = (): string => services.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '';

test('a worker is killed, and another started', () =>
	underLoad('worker killed', async () => {
		await cluster.end(cluster.workers[0] as Member, 'SIGKILL');
		await cluster.add('worker');
	}));

test('a gateway is killed, and another started', () =>
	underLoad('gateway killed', async () => {
		await cluster.end(cluster.gateways[0] as Member, 'SIGKILL');
		await cluster.add('gateway');
	}));

test('Redis is emptied, on every node', async () => {
	const [before] = await epochs(redisUrl());
	await underLoad('Redis emptied', () => emptyRedis(redisUrl()).then(() => undefined));
	const after = await epochs(redisUrl());
	expect(after).toHaveLength(1);
	expect(Number(after[0])).toBeGreaterThan(Number(before));
});
