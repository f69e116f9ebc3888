import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { type BlackHole, blackHole } from '../support/black-hole.ts';
import { type Member, startCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';

/** The network between workers and a service drops packets: a worker that reaches everything takes over, if there is one. */

const WITHIN_MS = 60_000;
const PARTITIONS = 8;
const CHANNELS = 16;
const { TIDEMARK_TEST_REDIS_URL = '', TIDEMARK_TEST_POSTGRES_URL = '' } = process.env;
/** Between Redis and everybody but the far worker. */
let nearRedis: BlackHole;
let farRedis: BlackHole;
let farPostgres: BlackHole;
let cluster: TestCluster;
let far: Member;
let near: Member;
let author: Person;
const channels: string[] = [];
const posted: string[] = [];

beforeAll(async () => {
	nearRedis = await blackHole(TIDEMARK_TEST_REDIS_URL);
	farRedis = await blackHole(TIDEMARK_TEST_REDIS_URL);
	farPostgres = await blackHole(TIDEMARK_TEST_POSTGRES_URL);
	cluster = await startCluster({
		gateways: 1,
		workers: 1,
		services: { ...process.env, TIDEMARK_TEST_REDIS_CLUSTER_URL: nearRedis.through(TIDEMARK_TEST_REDIS_URL) },
		flags: ['--log-level', 'info'],
	});
	near = cluster.workers[0] as Member;
	far = await cluster.add('worker', {
		TIDEMARK_REDIS_URL: farRedis.through(TIDEMARK_TEST_REDIS_URL),
		TIDEMARK_POSTGRES_URL: farPostgres.through(TIDEMARK_TEST_POSTGRES_URL),
	});
	author = (await makeWorkspace(cluster.url, 1)).people[0] as Person;
	await bothHavePartitions();
	for (let number = 0; number < CHANNELS; number += 1)
		channels.push((await author.call('conversations.create', { name: `channel-${number}` })).channel.id);
}, 120_000);
afterAll(async () => {
	for (const network of [nearRedis, farRedis, farPostgres]) network?.restore();
	await cluster?.stop();
	for (const network of [nearRedis, farRedis, farPostgres]) network?.stop();
}, 60_000);

async function metric({ url }: Member, name: string): Promise<number> {
	const text = await (await fetch(`${url}/metrics`)).text();
	return Number(new RegExp(`^tidemark_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

const partitionsOf = async (): Promise<{ near: number; far: number }> => ({
	near: await metric(near, 'partitions'),
	far: await metric(far, 'partitions'),
});

/** How often partitions were assigned since each worker started. */
const assignments = () => Promise.all([near, far].map((one) => metric(one, 'partition_assignments_total')));

const bothHavePartitions = () =>
	eventually(WITHIN_MS, async () =>
		expect(await partitionsOf()).toEqual({ near: PARTITIONS / 2, far: PARTITIONS / 2 }),
	);

/** Repeats a post whose outcome is not known, as a client does. Answers with how long that took. */
async function postTo(places: readonly string[], about: string): Promise<number> {
	const began = performance.now();
	const call = rawClient(cluster.url, author.token);
	await Promise.all(
		places.map(async (channel, number) => {
			const text = `${about} ${number}`;
			posted.push(text);
			await eventually(WITHIN_MS, async () =>
				expect(await call('chat.postMessage', { channel, text, client_msg_id: text })).toMatchObject({
					ok: true,
				}),
			);
		}),
	);
	return Math.round(performance.now() - began);
}

/** Everything that was acknowledged is stored, once. */
async function allIsThereOnce(): Promise<void> {
	await eventually(WITHIN_MS, async () => {
		const texts: string[] = [];
		for (const channel of channels) {
			const { messages } = await author.call('conversations.history', { channel, limit: 200 });
			texts.push(...messages.map(({ text }: { text: string }) => text));
		}
		expect(texts.sort()).toEqual(posted.toSorted());
	});
}

for (const service of ['Redis', 'PostgreSQL'] as const)
	test(`a worker cut off from ${service} gives its partitions to the other, and gets them back`, async () => {
		const network = service === 'Redis' ? farRedis : farPostgres;
		await bothHavePartitions();
		await postTo(channels.slice(0, CHANNELS / 2), `before ${service}`);
		network.swallow();
		// Also to channels that have to be loaded first.
		const tookMs = await postTo(channels, `without ${service}`);
		await eventually(WITHIN_MS, async () =>
			expect(await partitionsOf()).toEqual({ near: PARTITIONS, far: 0 }),
		);
		await allIsThereOnce();
		network.restore();
		await bothHavePartitions();
		await postTo(channels.slice(0, CHANNELS / 2), `after ${service}`);
		await allIsThereOnce();
		// What another worker took over is no failure that anybody has to look into.
		const errors = far
			.err()
			.split('\n')
			.filter((line) => line.includes('"level":50'));
		expect(errors.filter((line) => line.includes('"stack"'))).toEqual([]);
		console.log(
			`${errors.length} error lines; cut off from ${service}: all posts acknowledged after ${tookMs} ms`,
		);
	}, 180_000);

test('Redis does not answer anybody: the partitions stay where they are', async () => {
	await bothHavePartitions();
	const before = await assignments();
	for (const network of [nearRedis, farRedis]) network.swallow();
	await eventually(WITHIN_MS, async () => {
		for (const worker of [near, far]) expect(worker.err()).toContain('Redis has not answered this worker');
	});
	// Several rounds of the group, and as long again as it took to notice.
	await Bun.sleep(6_000);
	expect(await partitionsOf()).toEqual({ near: PARTITIONS / 2, far: PARTITIONS / 2 });
	expect(await assignments()).toEqual(before);
	for (const network of [nearRedis, farRedis]) network.restore();
	await postTo(channels, 'after all');
	await allIsThereOnce();
}, 180_000);
