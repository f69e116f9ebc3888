import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BatchingProducer } from '../../src/engine/cluster/kafka/producer.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { kafkaBrokers } from '../support/kafka.ts';
import { onPostgres, postgresUrl } from '../support/postgres.ts';
import { tidemark } from '../support/process.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** What a worker reports when an operator has to act: in /readyz, as a metric, and once in its log. */

const REPORTED_WITHIN_MS = 30_000;
const AWAY_MS = 8_000;
let services: OwnServices;
let cluster: TestCluster;

beforeAll(async () => {
	services = await ownServices('redis');
	cluster = await startCluster({
		gateways: 1,
		workers: 1,
		services: { ...process.env, TIDEMARK_TEST_REDIS_CLUSTER_URL: redisUrl() },
		flags: ['--log-level', 'info'],
	});
}, 300_000);
afterAll(async () => {
	await cluster?.stop();
	await services?.down();
}, 60_000);

/** A single Redis: while it is down, each command fails after 3 s. */
const redisUrl = (): string => services.env.TIDEMARK_TEST_REDIS_URL as string;

const worker = () => cluster.workers[0]!;

async function report(): Promise<{ degraded: string[]; metric: boolean }> {
	const [ready, metrics] = await Promise.all(
		['readyz', 'metrics'].map((path) => fetch(`${worker().url}/${path}`)),
	);
	const { degraded } = (await ready!.json()) as { degraded: string[] };
	return { degraded, metric: (await metrics!.text()).includes('tidemark_degraded{dependency="log"} 1') };
}

const logged = (): { level: number; msg: string; method?: string }[] =>
	worker()
		.err()
		.trim()
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line));

test('a worker reports partitions that it cannot read, with what to do, until they are readable', async () => {
	const { installation } = cluster;
	await cluster.end(worker(), 'SIGTERM');
	const lost = [`${installation}-conversations/3`, `${installation}-users/5`];
	for (const partition of lost)
		await onPostgres(
			`INSERT INTO ${installation}.partition_progress VALUES ('${partition}', 1000)
				ON CONFLICT (partition) DO UPDATE SET next_offset = 1000`,
		);
	await cluster.add('worker');
	await eventually(async () => {
		const { degraded, metric } = await report();
		expect(metric).toBeTrue();
		expect(degraded.sort()).toEqual(
			lost.map((partition) =>
				expect.stringMatching(
					new RegExp(`^partition ${partition}, since \\S+Z: .* offset 1000, .* Run .tidemark doctor.`),
				),
			),
		);
	}, REPORTED_WITHIN_MS);
	// The worker retries twice a second, and logs each partition once.
	await Bun.sleep(2_000);
	for (const partition of lost)
		expect(logged().filter(({ msg, method = '' }) => `${msg} ${method}`.includes(partition))).toHaveLength(1);
	await onPostgres(`DELETE FROM ${installation}.partition_progress WHERE next_offset = 1000`);
	await eventually(
		async () => expect(await report()).toEqual({ degraded: [], metric: false }),
		REPORTED_WITHIN_MS,
	);
});

test('a Redis outage causes one log line at its start and one at its end', async () => {
	const before = logged().length;
	await services.stop('redis', 'crash');
	try {
		await eventually(
			async () =>
				expect((await report()).degraded).toContainEqual(
					expect.stringMatching(
						/^read state, since \S+Z: this worker cannot check whether Redis is complete: ./,
					),
				),
			REPORTED_WITHIN_MS,
		);
		// At least two more attempts.
		await Bun.sleep(AWAY_MS);
	} finally {
		await services.start('redis');
	}
	await eventually(async () => expect((await report()).degraded).toEqual([]), REPORTED_WITHIN_MS);
	const since = logged().slice(before);
	const ofReadState = since.map(({ msg }) => msg).filter((msg) => msg.startsWith('read state '));
	expect(ofReadState).toEqual([
		expect.stringMatching(
			/^read state is unavailable: this worker cannot check whether Redis is complete: ./,
		),
		expect.stringMatching(/^read state is available again after \d+ ms$/),
	]);
	expect(since.filter(({ msg }) => /failed unexpectedly/.test(msg ?? ''))).toEqual([]);
}, 300_000);

test('a worker that cannot start, because marks are unreadable and Redis is empty, reports it', async () => {
	const { installation } = cluster;
	await cluster.end(worker(), 'SIGTERM');
	const topic = `${installation}-users`;
	const raw = new BatchingProducer({ brokers: kafkaBrokers() }, [topic]);
	await raw.open();
	await raw.append(topic, 0, 'U01', JSON.stringify({ v: 2, body: {} }));
	await raw.close();
	await services.stop('redis', 'crash');
	await services.start('redis');
	const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
	const { port } = free;
	free.stop(true);
	const starting = tidemark(['worker', '--host', '127.0.0.1', '--port', String(port)], {
		TIDEMARK_INSTALLATION: installation,
		TIDEMARK_REDIS_URL: redisUrl(),
		TIDEMARK_POSTGRES_URL: postgresUrl(),
		TIDEMARK_KAFKA_BROKERS: kafkaBrokers().join(','),
	});
	await eventually(async () => {
		const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
		expect(ready.status).toBe(503);
		expect(((await ready.json()) as { degraded: string[] }).degraded).toEqual([
			'starting',
			expect.stringMatching(
				new RegExp(`^partition ${topic}/0, since \\S+Z: log record \\d+ .* has version 2`),
			),
		]);
	}, REPORTED_WITHIN_MS);
	await starting.end('SIGKILL');
}, 300_000);
