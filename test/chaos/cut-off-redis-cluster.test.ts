import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { type BlackHole, blackHole } from '../support/black-hole.ts';
import { setStage } from '../support/chaos/stage.ts';
import type { Member, Role } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { kafkaBrokers } from '../support/kafka.ts';
import { makeWorkspace, type Person } from '../support/people.ts';

/**
 * The network between one process and a service loses all packets, under load. If the process is a worker, another
 * worker takes over its partitions. If it is a gateway, clients continue at the other one.
 */

const WITHIN_MS = 60_000;
const PARTITIONS = 8;
const CHANNELS = 16;
const { TIDEMARK_TEST_REDIS_URL = '', TIDEMARK_TEST_POSTGRES_URL = '' } = process.env;
const SERVICES = ['Redis', 'PostgreSQL', 'Kafka'] as const;
type Service = (typeof SERVICES)[number];
type Networks = Readonly<Record<Service, BlackHole>>;

/** The proxy between Redis and the other processes. */
let nearRedis: BlackHole;
/** The proxies between the services and the process of each role that is cut off. */
const networks = {} as Record<Role, Networks>;
let far: Member;
let farGateway: Member;
let near: Member;
let author: Person;
const channels: string[] = [];
const posted: string[] = [];

const stage = setStage({
	options: async () => {
		nearRedis = await blackHole(TIDEMARK_TEST_REDIS_URL);
		return {
			gateways: 1,
			workers: 1,
			services: {
				...process.env,
				TIDEMARK_TEST_REDIS_CLUSTER_URL: nearRedis.through(TIDEMARK_TEST_REDIS_URL),
			},
			flags: ['--log-level', 'info'],
		};
	},
});

/** One more process, which reaches every service through its own proxy. */
async function addFar(role: Role): Promise<Member> {
	const [kafka = ''] = kafkaBrokers();
	const made: Networks = {
		Redis: await blackHole(TIDEMARK_TEST_REDIS_URL),
		PostgreSQL: await blackHole(TIDEMARK_TEST_POSTGRES_URL),
		Kafka: await blackHole(`http://${kafka}`),
	};
	networks[role] = made;
	const [from, to] = [`http://${kafka}`, made.Kafka.through(`http://${kafka}`)].map(
		(url) => new URL(url).port,
	);
	return stage.cluster.add(role, {
		TIDEMARK_REDIS_URL: made.Redis.through(TIDEMARK_TEST_REDIS_URL),
		TIDEMARK_POSTGRES_URL: made.PostgreSQL.through(TIDEMARK_TEST_POSTGRES_URL),
		TEST_ROUTES: `${from}=${to}`,
	});
}

const allNetworks = (): BlackHole[] => [nearRedis, ...Object.values(networks).flatMap(Object.values)];

beforeAll(async () => {
	near = stage.cluster.workers[0] as Member;
	far = await addFar('worker');
	farGateway = await addFar('gateway');
	author = (await makeWorkspace(stage.cluster.url, 1)).people[0] as Person;
	await bothHavePartitions();
	for (let number = 0; number < CHANNELS; number += 1)
		channels.push((await author.call('conversations.create', { name: `channel-${number}` })).channel.id);
}, 120_000);
afterAll(() => {
	for (const network of allNetworks()) network.restore();
	for (const network of allNetworks()) network.stop();
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
	eventually(
		async () => expect(await partitionsOf()).toEqual({ near: PARTITIONS / 2, far: PARTITIONS / 2 }),
		WITHIN_MS,
	);

/** Posts to these channels, and repeats posts that fail, as a client does. Returns the milliseconds that it took. */
async function postTo(places: readonly string[], about: string): Promise<number> {
	const began = performance.now();
	const call = rawClient(stage.cluster.url, author.token);
	await Promise.all(
		places.map(async (channel, number) => {
			const text = `${about} ${number}`;
			posted.push(text);
			await eventually(
				async () =>
					expect(await call('chat.postMessage', { channel, text, client_msg_id: text })).toMatchObject({
						ok: true,
					}),
				WITHIN_MS,
			);
		}),
	);
	return Math.round(performance.now() - began);
}

/** Checks that every acknowledged message is stored once. */
async function expectStoredOnce(): Promise<void> {
	await eventually(async () => {
		const texts: string[] = [];
		for (const channel of channels) {
			const { messages } = await author.call('conversations.history', { channel, limit: 200 });
			texts.push(...messages.map(({ text }: { text: string }) => text));
		}
		expect(texts.sort()).toEqual(posted.toSorted());
	}, WITHIN_MS);
}

for (const service of SERVICES)
	test(`a worker cut off from ${service} loses its partitions to the other, and gets them back`, async () => {
		const network = networks.worker[service];
		await bothHavePartitions();
		await postTo(channels.slice(0, CHANNELS / 2), `before ${service}`);
		let tookMs = 0;
		await stage.underLoad(`worker cut off from ${service}`, async () => {
			network.swallow();
			// Also posts to channels that have to be loaded first.
			tookMs = await postTo(channels, `without ${service}`);
			await eventually(async () => expect(await metric(near, 'partitions')).toBe(PARTITIONS), WITHIN_MS);
			await expectStoredOnce();
			network.restore();
			await bothHavePartitions();
		});
		await postTo(channels.slice(0, CHANNELS / 2), `after ${service}`);
		await expectStoredOnce();
		// Work that another worker took over is not logged as a failure.
		const errors = far
			.err()
			.split('\n')
			.filter((line) => line.includes('"level":50'));
		expect(errors.filter((line) => line.includes('"stack"'))).toEqual([]);
		console.log(
			`${errors.length} error lines; worker cut off from ${service}: all posts acknowledged after ${tookMs} ms`,
		);
	}, 180_000);

/**
 * A gateway that cannot post is not ready for the load balancer. Without PostgreSQL it can still post to loaded
 * conversations.
 */
const isReady = async (): Promise<boolean> => (await fetch(`${farGateway.url}/readyz`)).ok;

for (const service of SERVICES)
	test(`a gateway is cut off from ${service}: its clients continue at the other gateway`, () =>
		stage.underLoad(`gateway cut off from ${service}`, async (load) => {
			const network = networks.gateway[service];
			network.swallow();
			if (service !== 'PostgreSQL')
				await eventually(async () => expect(await isReady()).toBe(false), WITHIN_MS);
			await load.acknowledged(100);
			network.restore();
			await eventually(async () => expect(await isReady()).toBe(true), WITHIN_MS);
		}));

test('Redis answers no worker: the partitions keep their owners', async () => {
	await bothHavePartitions();
	const before = await assignments();
	for (const network of [nearRedis, networks.worker.Redis]) network.swallow();
	await eventually(async () => {
		for (const worker of [near, far]) expect(worker.err()).toContain('Redis has not answered this worker');
	}, WITHIN_MS);
	// Several rounds of the consumer group, and as long again as the detection took.
	await Bun.sleep(6_000);
	expect(await partitionsOf()).toEqual({ near: PARTITIONS / 2, far: PARTITIONS / 2 });
	expect(await assignments()).toEqual(before);
	for (const network of [nearRedis, networks.worker.Redis]) network.restore();
	await postTo(channels, 'after all');
	await expectStoredOnce();
}, 180_000);
