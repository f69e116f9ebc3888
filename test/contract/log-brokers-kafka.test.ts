import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Admin } from '@platformatic/kafka';
import type { KafkaLogs } from '../../src/engine/cluster/kafka/open.ts';
import { partitionOf } from '../../src/engine/cluster/kafka/partitioning.ts';
import { Refusal } from '../../src/model/errors.ts';
import { kafkaPlace } from '../support/kafka.ts';
import { entry, numbers, until } from '../support/log/entries.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** One broker of three is killed, or hangs: what the others lead goes on, and what it led goes on with its new leader. */

const PARTITIONS = 9;
let services: OwnServices;
let brokers: string[];

beforeAll(async () => {
	services = await ownServices('kafka-trio');
	brokers = (services.env.TIDEMARK_TEST_KAFKA_TRIO_BROKERS as string).split(',');
}, 300_000);
afterAll(() => services.down(), 60_000);

/** A conversation in each partition. */
const conversations = numbers(PARTITIONS).map((partition) => {
	for (let number = 0; ; number += 1)
		if (partitionOf(`C${number}`, PARTITIONS) === partition) return `C${number}`;
});

/** Of each partition. */
async function leadersOf(topic: string): Promise<number[]> {
	const admin = new Admin({ clientId: 'test', bootstrapBrokers: brokers });
	const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true });
	await admin.close();
	return topics.get(topic)!.partitions.map(({ leader }) => leader);
}

/** Reads every partition that it is given from the beginning. */
function consumer(logs: KafkaLogs) {
	const seen = new Set<number>();
	return {
		seen,
		start: () =>
			logs.commands.consume(
				async (batch) => {
					for (const { replyTo } of batch) seen.add(replyTo.request);
				},
				{ progress: async () => 0 },
			),
	};
}

for (const how of ['SIGKILL', 'SIGSTOP'] as const) {
	test(`${how}, where nobody else can lead what it led: posts to all other partitions go on, and are consumed`, async () => {
		const kafka = kafkaPlace({ brokers, partitions: PARTITIONS, replication: 1 });
		const gateway = await kafka.open();
		const consumers = [consumer(await kafka.open())];
		consumers[0]?.start();
		let request = 0;
		const append = (partition: number): Promise<void> => {
			request += 1;
			return gateway.commands.append(entry(conversations[partition]!, request));
		};
		await Promise.all(numbers(PARTITIONS).map(append));
		await until(() => consumers[0]?.seen.size === PARTITIONS, 'what came before', 60_000);
		const leaders = await leadersOf(`${kafka.prefix}conversations`);
		// The one that is asked first for everything.
		const lost = 1;
		const led = numbers(PARTITIONS).filter((partition) => leaders[partition] === lost);
		const others = numbers(PARTITIONS).filter((partition) => leaders[partition] !== lost);
		expect([led.length > 0, others.length > 0]).toEqual([true, true]);

		services.signalBroker(lost, how);
		const refused: unknown[] = [];
		const confirmed: number[] = [];
		const attempt = (partition: number): Promise<void> =>
			append(partition).then(
				() => void confirmed.push(partition),
				(error) => void refused.push(error),
			);
		const stuck = led.map(attempt);
		try {
			// Whatever is sent to the lost one meanwhile.
			for (const _ of numbers(10)) {
				stuck.push(...led.map(attempt));
				await Promise.all(others.map(append));
				await Bun.sleep(300);
			}
			expect(confirmed).toEqual([]);
			const both = (): number => new Set(consumers.flatMap(({ seen }) => [...seen])).size;
			await until(() => both() === PARTITIONS + 10 * others.length, 'what the others confirmed', 90_000);
			// Kafka has counted the broker out: a process that starts now reads the partitions that have a leader.
			const late = consumer(await kafka.open());
			consumers.push(late);
			late.start();
			for (let tries = 0; late.seen.size === 0 && tries < 180; tries += 1) {
				await Promise.all(others.map(append));
				await Bun.sleep(500);
			}
			expect(late.seen.size).toBeGreaterThan(0);
		} finally {
			if (how === 'SIGSTOP') services.signalBroker(lost, 'SIGCONT');
			else await services.start('kafka-trio');
		}
		await Promise.all(stuck);
		for (const error of refused) expect(error).toBeInstanceOf(Refusal);
		// And what it leads again goes on by itself.
		for (const partition of led) {
			let isBack = false;
			const again = setInterval(
				() =>
					append(partition).then(
						() => {
							isBack = true;
						},
						() => undefined,
					),
				200,
			);
			await until(() => isBack, `posts to partition ${partition}`, 60_000).finally(() =>
				clearInterval(again),
			);
		}
		await kafka.close();
	}, 300_000);
}

test('SIGKILL under load: all go on with new leaders, nothing is lost, twice or left unconfirmed', async () => {
	const kafka = kafkaPlace({ brokers, partitions: PARTITIONS, replication: 3 });
	// Nobody is to give up while leaders are elected, however busy this machine is.
	const gateway = await kafka.open({ confirmedMs: 90_000 });
	const worker = await kafka.open();
	const seen: number[] = [];
	const positions = new Map<string, number>();
	worker.commands.consume(
		async (batch) => {
			seen.push(...batch.map(({ replyTo }) => replyTo.request));
			positions.set(batch[0]!.partition, batch.at(-1)!.offset + 1);
		},
		{ progress: async (partition) => positions.get(partition) ?? 0 },
	);
	let load = true;
	let next = 0;
	const acked: number[] = [];
	const refused = new Map<number, Refusal>();
	/** Of each partition, how many that were appended after the broker was killed. */
	const ackedSince = new Map<number, number>();
	let killed = false;
	const append = async (partition: number): Promise<void> => {
		next += 1;
		const [request, since] = [next, killed];
		try {
			await gateway.commands.append(entry(conversations[partition]!, request));
			acked.push(request);
			if (since) ackedSince.set(partition, (ackedSince.get(partition) ?? 0) + 1);
		} catch (error) {
			refused.set(request, error as Refusal);
		}
	};
	const writers = numbers(PARTITIONS * 3).map(async (writer) => {
		while (load) {
			await append(writer % PARTITIONS);
			await Bun.sleep(10);
		}
	});
	await until(() => acked.length > 300 && seen.length > 300, 'load', 60_000);
	const lost = (await leadersOf(`${kafka.prefix}conversations`))[0]!;
	killed = true;
	services.signalBroker(lost, 'SIGKILL');
	await until(
		() => numbers(PARTITIONS).every((partition) => (ackedSince.get(partition) ?? 0) > 10),
		'posts to every partition',
		80_000,
	);
	load = false;
	await Promise.all(writers);
	// What was refused was never sent.
	expect([...new Set([...refused.values()].map(({ code }) => code))]).not.toContain('outcome_unknown');
	await until(() => acked.every((request) => seen.includes(request)), 'everything acknowledged', 60_000);
	expect(seen.filter((request) => refused.has(request))).toEqual([]);
	expect(seen.length).toBe(new Set(seen).size);
	console.log(`${acked.length} acknowledged, ${refused.size} refused`);
	await services.start('kafka-trio');
	await kafka.close();
}, 300_000);
