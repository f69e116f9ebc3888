import { expect, test } from 'bun:test';
import { Admin, Consumer } from '@platformatic/kafka';
import type { KafkaLogs } from '../../src/engine/cluster/kafka/open.ts';
import { partitionOf } from '../../src/engine/cluster/kafka/partitioning.ts';
import { Rejection } from '../../src/model/errors.ts';
import { setStage } from '../support/chaos/stage.ts';
import { kafkaPlace } from '../support/kafka.ts';
import { numbers, record, until } from '../support/log/records.ts';

/**
 * Three Kafka brokers, one of which is killed, hangs or restarts. An append needs two in-sync replicas, which the other two brokers
 * provide: a cluster under load continues with new leaders, and so does the log by itself.
 */

const PARTITIONS = 9;
const NODES = [1, 2, 3];
const stage = setStage({
	own: ['kafka-trio'],
	options: (env) => ({
		services: { ...process.env, TIDEMARK_TEST_KAFKA_BROKERS: env.TIDEMARK_TEST_KAFKA_TRIO_BROKERS },
		environment: { TIDEMARK_KAFKA_REPLICATION: '3' },
	}),
});
const brokers = (): string[] => (stage.services.env.TIDEMARK_TEST_KAFKA_TRIO_BROKERS as string).split(',');

async function asAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
	const admin = new Admin({ clientId: 'test', bootstrapBrokers: brokers() });
	return work(admin).finally(() => admin.close());
}

/** The broker that leads each partition. */
const leadersOf = (topic: string): Promise<number[]> =>
	asAdmin(async (admin) => {
		const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true });
		return topics.get(topic)!.partitions.map(({ leader }) => leader);
	});

const commandTopic = (): string => `${stage.cluster.installation}-conversations`;

test('a cluster creates its topics so that an append needs two in-sync replicas', async () => {
	const TOPIC = 2;
	const name = 'min.insync.replicas';
	const [{ configs } = { configs: [] }] = await asAdmin((admin) =>
		admin.describeConfigs({
			resources: [{ resourceType: TOPIC, resourceName: commandTopic(), configurationKeys: [name] }],
		}),
	);
	expect(configs).toMatchObject([{ name, value: '2' }]);
});

/** The broker that assigns partitions to workers. */
async function coordinator(): Promise<number> {
	const groupId = `${stage.cluster.installation}-tidemark-workers`;
	const member = new Consumer({ clientId: 'test', bootstrapBrokers: brokers(), groupId });
	return member.findGroupCoordinator().finally(() => member.close());
}

const KILLED: Readonly<Record<string, () => Promise<number>>> = {
	'the leader of a partition': async () => (await leadersOf(commandTopic()))[0] ?? 0,
	'the coordinator of the workers': coordinator,
};

for (const [which, find] of Object.entries(KILLED))
	test(`${which} is killed: acknowledged changes survive, and the cluster continues without it`, () =>
		stage.underLoad(`${which} killed`, async (load) => {
			await stage.services.haltNode('kafka-trio', await find(), 'SIGKILL');
			await load.acknowledged(150);
			await stage.services.start('kafka-trio');
		}));

test('every broker is restarted in turn', () =>
	stage.underLoad('brokers restarted in turn', async (load) => {
		for (const node of NODES) {
			await stage.services.restartNode('kafka-trio', node);
			await load.acknowledged(30);
		}
	}));

/** A conversation in each partition. */
const conversations = numbers(PARTITIONS).map((partition) => {
	for (let number = 0; ; number += 1)
		if (partitionOf(`C${number}`, PARTITIONS) === partition) return `C${number}`;
});

/** Reads every assigned partition from its start. */
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

/** Appends again and again, until Kafka confirms an append. */
async function untilConfirmed(append: () => Promise<void>, what: string): Promise<void> {
	let isConfirmed = false;
	const again = setInterval(
		() =>
			append().then(
				() => {
					isConfirmed = true;
				},
				() => undefined,
			),
		200,
	);
	await until(() => isConfirmed, what, 60_000).finally(() => clearInterval(again));
}

for (const how of ['SIGKILL', 'SIGSTOP'] as const) {
	test(`${how} of a broker without replicas: posts to the partitions of other brokers continue, and are consumed`, async () => {
		const kafka = kafkaPlace({ brokers: brokers(), partitions: PARTITIONS, replication: 1 });
		const gateway = await kafka.open();
		const consumers = [consumer(await kafka.open())];
		consumers[0]?.start();
		let request = 0;
		const append = (partition: number): Promise<void> => {
			request += 1;
			return gateway.commands.append(record(conversations[partition]!, request));
		};
		await Promise.all(numbers(PARTITIONS).map(append));
		await until(() => consumers[0]?.seen.size === PARTITIONS, 'the first appends', 60_000);
		const leaders = await leadersOf(`${kafka.prefix}conversations`);
		// The first broker in the list, which clients contact first.
		const lost = 1;
		const led = numbers(PARTITIONS).filter((partition) => leaders[partition] === lost);
		const others = numbers(PARTITIONS).filter((partition) => leaders[partition] !== lost);
		expect([led.length > 0, others.length > 0]).toEqual([true, true]);

		await stage.services.haltNode('kafka-trio', lost, how);
		const rejected: unknown[] = [];
		const confirmed: number[] = [];
		const attempt = (partition: number): Promise<void> =>
			append(partition).then(
				() => void confirmed.push(partition),
				(error) => void rejected.push(error),
			);
		const stuck = led.map(attempt);
		try {
			// Commands that are sent to the lost broker meanwhile.
			for (const _ of numbers(10)) {
				stuck.push(...led.map(attempt));
				await Promise.all(others.map(append));
				await Bun.sleep(300);
			}
			expect(confirmed).toEqual([]);
			const both = (): number => new Set(consumers.flatMap(({ seen }) => [...seen])).size;
			await until(() => both() === PARTITIONS + 10 * others.length, 'appends to the others', 90_000);
			// Kafka has removed the broker: a process that starts now reads the partitions that have a leader.
			const late = consumer(await kafka.open());
			consumers.push(late);
			late.start();
			for (let tries = 0; late.seen.size === 0 && tries < 180; tries += 1) {
				await Promise.all(others.map(append));
				await Bun.sleep(500);
			}
			expect(late.seen.size).toBeGreaterThan(0);
		} finally {
			if (how === 'SIGSTOP') stage.services.wakeNode('kafka-trio', lost);
			else await stage.services.start('kafka-trio');
		}
		await Promise.all(stuck);
		for (const error of rejected) expect(error).toBeInstanceOf(Rejection);
		// Partitions that the broker leads again continue without a restart.
		for (const partition of led)
			await untilConfirmed(() => append(partition), `posts to partition ${partition}`);
		await kafka.close();
	}, 300_000);
}

test('two of three brokers hang, so their partitions get no new leader: later posts are rejected, and never sent', async () => {
	const kafka = kafkaPlace({ brokers: brokers(), partitions: PARTITIONS, replication: 1 });
	const gateway = await kafka.open({ confirmedMs: 3000 });
	const hanging = [1, 2];
	const leaders = await leadersOf(`${kafka.prefix}conversations`);
	const conversation = conversations[leaders.findIndex((leader) => hanging.includes(leader))]!;
	const append = (request: number): Promise<void> => gateway.commands.append(record(conversation, request));
	const codeOf = (appended: Promise<void>): Promise<string> =>
		appended.then(
			() => 'confirmed',
			(error: Rejection) => error.code,
		);
	await append(1);
	for (const node of hanging) await stage.services.haltNode('kafka-trio', node, 'SIGSTOP');
	try {
		expect(await codeOf(append(2))).toBe('outcome_unknown');
		// Long enough for the gateway to give up that post, and to look for the leader several times.
		for (const request of numbers(60, 3)) {
			expect(await codeOf(append(request))).toBe('service_unavailable');
			await Bun.sleep(200);
		}
	} finally {
		for (const node of hanging) stage.services.wakeNode('kafka-trio', node);
	}
	await untilConfirmed(() => append(100), 'posts to the partition');
	await kafka.close();
}, 300_000);

test('SIGKILL under load: all partitions continue with new leaders; nothing is lost, duplicated or left unconfirmed', async () => {
	const kafka = kafkaPlace({ brokers: brokers(), partitions: PARTITIONS, replication: 3 });
	// No append may time out while leaders are elected, even on a busy machine.
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
	const rejected = new Map<number, Rejection>();
	/** By partition: the number of records that were appended after the broker was killed. */
	const ackedSince = new Map<number, number>();
	let killed = false;
	const append = async (partition: number): Promise<void> => {
		next += 1;
		const [request, since] = [next, killed];
		try {
			await gateway.commands.append(record(conversations[partition]!, request));
			acked.push(request);
			if (since) ackedSince.set(partition, (ackedSince.get(partition) ?? 0) + 1);
		} catch (error) {
			rejected.set(request, error as Rejection);
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
	await stage.services.haltNode('kafka-trio', lost, 'SIGKILL');
	await until(
		() => numbers(PARTITIONS).every((partition) => (ackedSince.get(partition) ?? 0) > 10),
		'posts to every partition',
		80_000,
	);
	load = false;
	await Promise.all(writers);
	// Rejected appends were never sent.
	expect([...new Set([...rejected.values()].map(({ code }) => code))]).not.toContain('outcome_unknown');
	await until(() => acked.every((request) => seen.includes(request)), 'everything acknowledged', 60_000);
	expect(seen.filter((request) => rejected.has(request))).toEqual([]);
	expect(seen.length).toBe(new Set(seen).size);
	console.log(`${acked.length} acknowledged, ${rejected.size} rejected`);
	await stage.services.start('kafka-trio');
	await kafka.close();
}, 300_000);
