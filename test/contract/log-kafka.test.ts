import { afterAll, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { Admin } from '@platformatic/kafka';
import { withoutWrappers } from '../../src/engine/cluster/kafka/errors.ts';
import { KafkaUnusable } from '../../src/engine/cluster/kafka/open.ts';
import { BatchingProducer } from '../../src/engine/cluster/kafka/producer.ts';
import type { ReadFact } from '../../src/engine/ports/facts.ts';
import type { LoggedCommand, LogSpan } from '../../src/engine/ports/log.ts';
import { kafkaBrokers, kafkaPlace } from '../support/kafka.ts';
import { logContract } from '../support/log/contract.ts';
import { fromTheBeginning, numbers, record, until } from '../support/log/records.ts';

logContract('Kafka', async () => kafkaPlace().open());

const places: { close(): Promise<void> }[] = [];
afterAll(async () => void (await Promise.all(places.map((place) => place.close()))));

function place(...args: Parameters<typeof kafkaPlace>): ReturnType<typeof kafkaPlace> {
	const made = kafkaPlace(...args);
	places.push(made);
	return made;
}

/** A port of the loopback interface on which no process listens. */
async function deadPort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await new Promise((resolve) => server.once('listening', resolve));
	const { port } = server.address() as { port: number };
	await new Promise((resolve) => server.close(resolve));
	return port;
}

test('consumption starts at the owner’s stored offset, also after a restart', async () => {
	const kafka = place({ partitions: 1 });
	const logs = await kafka.open();
	for (const n of numbers(50)) await logs.commands.append(record('C01', n));
	for (const from of [20, 5, 50]) {
		const reader = await kafka.open();
		const seen: LoggedCommand[] = [];
		const asked: string[] = [];
		reader.commands.consume(async (batch) => void seen.push(...batch), {
			progress: async (partition) => {
				asked.push(partition);
				return from;
			},
		});
		await until(() => asked.length > 0 && seen.length >= 50 - from, `records from ${from}`);
		await Bun.sleep(300);
		expect(seen.map(({ offset }) => offset)).toEqual(numbers(50 - from, from));
		expect(asked).toEqual([kafka.partition('conversations', 0)]);
		await reader.close();
	}
});

/** Records the stalled partitions that were reported, and why they are stalled. */
function watching() {
	const stalled = new Map<string, string>();
	const watch = {
		onStalled: (partition: string, { message }: Error) => void stalled.set(partition, message),
		onResumed: (partition: string) => void stalled.delete(partition),
	};
	return { stalled, watch };
}

test('an offset that Kafka does not hold is reported, and nothing is consumed instead', async () => {
	const kafka = place({ partitions: 1 });
	const { stalled, watch } = watching();
	const logs = await kafka.open({ watch });
	await logs.commands.append(record('C01', 0));
	const seen: LoggedCommand[] = [];
	let progress = 1000;
	logs.commands.consume(async (batch) => void seen.push(...batch), { progress: async () => progress });
	await until(() => stalled.size > 0, 'that it is stalled');
	const partition = kafka.partition('conversations', 0);
	expect(stalled.get(partition)).toContain('must be read from offset 1000, but Kafka holds 0 to 1');
	expect(stalled.get(partition)).toContain('Run `tidemark doctor`');
	expect(seen).toEqual([]);
	// An operator corrects the offset: the partition resumes without a restart of the process.
	progress = 0;
	await until(() => seen.length === 1, 'the record');
	expect([...stalled]).toEqual([]);
});

test('a corrected offset ends the stall even if no record follows', async () => {
	const kafka = place({ partitions: 1 });
	const { stalled, watch } = watching();
	const logs = await kafka.open({ watch });
	let progress = 1000;
	logs.marks.consume({ progress: async () => progress, persist: async () => undefined });
	await until(() => stalled.has(kafka.partition('users', 0)), 'that it is stalled');
	progress = 0;
	await until(() => stalled.size === 0, 'that the stall ends');
});

test('a stalled partition that is reassigned is stalled at its new owner', async () => {
	const kafka = place({ partitions: 2 });
	const [one, other] = [watching(), watching()];
	const owner = { progress: async () => 1000 };
	(await kafka.open({ watch: one.watch })).commands.consume(async () => undefined, owner);
	await until(() => one.stalled.size === 2, 'both are stalled');
	(await kafka.open({ watch: other.watch })).commands.consume(async () => undefined, owner);
	await until(() => one.stalled.size === 1 && other.stalled.size === 1, 'one each', 30_000);
	expect([...one.stalled.keys(), ...other.stalled.keys()].sort()).toEqual(
		[0, 1].map((number) => kafka.partition('conversations', number)),
	);
});

test('a record of another version stalls its partition; an invalid record is skipped', async () => {
	const kafka = place({ partitions: 1 });
	const reported: string[] = [];
	const { stalled, watch } = watching();
	const logs = await kafka.open({ report: (error) => reported.push(String(error)), watch });
	const topic = `${kafka.prefix}conversations`;
	const raw = new BatchingProducer({ brokers: kafkaBrokers() }, [topic]);
	await raw.open();
	await logs.commands.append(record('C01', 0));
	await raw.append(topic, 0, 'C01', 'not JSON');
	await logs.commands.append(record('C01', 2));
	await raw.append(topic, 0, 'C01', JSON.stringify({ v: 2, body: { command: {}, replyTo: {} } }));
	await logs.commands.append(record('C01', 4));
	const seen: number[] = [];
	let progress = 0;
	logs.commands.consume(
		async (batch, { to }) => {
			seen.push(...batch.map(({ offset }) => offset));
			progress = to;
		},
		{ progress: async () => progress },
	);
	const partition = kafka.partition('conversations', 0);
	await until(() => stalled.has(partition), 'that it is stalled');
	expect(reported).toEqual([expect.stringContaining('JSON')]);
	expect(stalled.get(partition)).toContain(`record 3 of ${partition} has version 2`);
	expect(stalled.get(partition)).toContain('upgrade this worker');
	await Bun.sleep(300);
	expect(seen).toEqual([0, 2]);
	expect(progress).toBe(3);
	// Another worker has processed the record, or an operator has skipped it.
	progress = 4;
	await until(() => stalled.size === 0, 'that the stall ends', 30_000);
	await until(() => seen.at(-1) === 4, 'the record after it');
	await raw.close();
});

test('a stall does not end when the record before the unreadable one is handled again', async () => {
	const kafka = place({ partitions: 1 });
	const reported: string[] = [];
	const logs = await kafka.open({
		watch: {
			onStalled: () => void reported.push('stalled'),
			onResumed: () => void reported.push('resumed'),
		},
	});
	const topic = `${kafka.prefix}conversations`;
	const raw = new BatchingProducer({ brokers: kafkaBrokers() }, [topic]);
	await raw.open();
	await logs.commands.append(record('C01', 0));
	await raw.append(topic, 0, 'C01', JSON.stringify({ v: 2, body: { command: {}, replyTo: {} } }));
	// The stored offset does not move, so each attempt handles the first record again.
	logs.commands.consume(async () => undefined, fromTheBeginning);
	await until(() => reported.length > 1, 'two attempts', 30_000);
	expect(reported).toEqual(['stalled', 'stalled']);
	await raw.close();
});

test('a failed batch is handled again, after its partition was revoked and assigned', async () => {
	const kafka = place({ partitions: 1 });
	const logs = await kafka.open();
	const events: string[] = [];
	let progress = 0;
	let failures = 1;
	logs.commands.consume(
		async (batch) => {
			events.push(`from ${batch[0]!.offset}`);
			if (batch.at(-1)!.offset >= 5 && failures-- > 0) throw new Error('no');
			progress = batch.at(-1)!.offset + 1;
		},
		{
			progress: async () => progress,
			onAssigned: () => void events.push('assigned'),
			onRevoked: () => void events.push('revoked'),
		},
	);
	for (const n of numbers(5)) await logs.commands.append(record('C01', n));
	await until(() => progress === 5, 'the first ones');
	events.length = 0;
	await logs.commands.append(record('C01', 5));
	await until(() => progress === 6, 'all of them');
	expect(events).toEqual(['from 5', 'revoked', 'assigned', 'from 5']);
});

test('an existing topic keeps its number of partitions', async () => {
	const kafka = place({ partitions: 6 });
	expect((await kafka.open()).partitions).toEqual({ conversations: 6, users: 6 });
	expect((await kafka.open({ partitions: 2 })).partitions).toEqual({ conversations: 6, users: 6 });
	expect((await kafka.open({ partitions: 9 })).partitions).toEqual({ conversations: 6, users: 6 });
});

test('a broker that cannot be reached is named', async () => {
	const broker = `127.0.0.1:${await deadPort()}`;
	const began = performance.now();
	const error = await place({ brokers: [broker] })
		.open()
		.catch((each) => each);
	expect(error).toBeInstanceOf(KafkaUnusable);
	expect(error.message).toContain(`Kafka cannot be used at ${broker}`);
	expect(performance.now() - began).toBeLessThan(10_000);
});

test('errors of the Kafka client are logged without wrappers; other errors keep their stack', async () => {
	const broker = `127.0.0.1:${await deadPort()}`;
	const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker], retries: 3, retryDelay: 10 });
	const thrown = await admin.listTopics().catch((error) => error);
	expect(thrown.message).not.toContain('ECONNREFUSED');
	const short = withoutWrappers(thrown) as Error;
	expect(short.message).toContain('ECONNREFUSED');
	expect(`${short.stack} ${JSON.stringify(short)}`.length).toBeLessThan(200);
	expect(short.cause).toBeUndefined();
	const other = new Error('of a handler', { cause: new Error('deeper') });
	expect(withoutWrappers(other)).toBe(other);
	await admin.close();
});

test('marks are persisted in batches with contiguous spans, in order per user; a failed batch is retried', async () => {
	const kafka = place({ partitions: 3 });
	const logs = await kafka.open();
	const progress = new Map<string, number>();
	const persisted: ReadFact[] = [];
	let batches = 0;
	logs.marks.consume({
		progress: async (partition) => progress.get(partition) ?? 0,
		async persist(facts, { partition, from, to }: LogSpan) {
			batches += 1;
			if (batches === 2) throw new Error('the store is unavailable');
			// Like the store: all or nothing, and only if the progress is still `from`.
			if ((progress.get(partition) ?? 0) !== from) throw new Error(`fenced: ${partition} is not at ${from}`);
			progress.set(partition, to);
			persisted.push(...facts);
		},
	});
	const cursor = (user: string, at: number): ReadFact => ({
		type: 'cursor',
		user,
		conversation: 'C01',
		at,
		cursor: at,
		revision: at,
	});
	for (const n of numbers(10)) await logs.marks.append(numbers(100).map((u) => cursor(`U${u}`, n + 1)));
	await until(() => persisted.length >= 1000, 'all marks');
	await Bun.sleep(300);
	expect(persisted.length).toBe(1000);
	for (const u of numbers(100))
		expect(persisted.filter(({ user }) => user === `U${u}`).map(({ at }) => at)).toEqual(numbers(10, 1));
	expect([...progress.values()].reduce((sum, each) => sum + each, 0)).toBe(1000);
	expect(batches).toBeLessThan(60);
});

test('consuming needs an owner, because Kafka does not store the offsets', async () => {
	const logs = await place().open();
	expect(() => logs.commands.consume(async () => undefined)).toThrow('needs an owner');
	logs.commands.consume(async () => undefined, fromTheBeginning);
	expect(() => logs.commands.consume(async () => undefined, fromTheBeginning)).toThrow('already');
});
