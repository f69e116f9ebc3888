import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { KafkaLogs } from '../../src/engine/cluster/kafka/open.ts';
import type { PostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import { kafkaBrokers, kafkaPlace } from '../support/kafka.ts';
import { record, until } from '../support/log/records.ts';
import { covered, startWorker, type TestWorker } from '../support/log/worker.ts';
import { postgresPlace } from '../support/postgres.ts';
import { BEGIN, conversation, created } from '../support/store/facts.ts';

/** Partitions move between workers under load: nothing is lost, and nothing is written twice. */

const CONVERSATIONS = 20;
const PARTITIONS = 8;
let kafka: ReturnType<typeof kafkaPlace>;
let place: Awaited<ReturnType<typeof postgresPlace>>;
let store: PostgresStore;
let gateway: KafkaLogs;
let load: { stop(): Promise<number> };

beforeEach(async () => {
	kafka = kafkaPlace({ partitions: PARTITIONS });
	place = await postgresPlace({ writes: 4 });
	store = await place.open();
	for (let c = 0; c < CONVERSATIONS; c += 1)
		await store.ledger.commit([created(conversation(`C${c}`), ['U01'])]);
	gateway = await kafka.open();
	load = startLoad();
}, 60_000);
afterEach(async () => {
	await load.stop();
	await kafka.close();
	await store.close();
	await place.remove();
});

function startLoad(): { stop(): Promise<number> } {
	let on = true;
	let next = 0;
	const writers = Array.from({ length: 10 }, async () => {
		while (on) {
			next += 1;
			await gateway.commands.append(record(`C${next % CONVERSATIONS}`, next));
			await Bun.sleep(5);
		}
	});
	return {
		async stop() {
			on = false;
			await Promise.all(writers);
			return next;
		},
	};
}

/** The store has every message once. */
async function expectAllStored(appended: number): Promise<void> {
	const stored: number[] = [];
	for (let c = 0; c < CONVERSATIONS; c += 1) {
		const all = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1_000_000, nearest: 'oldest' } as const;
		for (const { ts } of await store.history.timeline(`C${c}`, all)) stored.push(ts - BEGIN);
	}
	expect(stored.length).toBe(appended);
	expect(new Set(stored).size).toBe(appended);
}

const total = (workers: readonly TestWorker[]): number =>
	workers.flatMap(({ spans }) => spans).reduce((sum, { from, to }) => sum + to - from, 0);

test('nothing is lost or written twice while a second worker joins and leaves', async () => {
	const a = startWorker(gateway.commands, store);
	await until(() => a.owned.size === PARTITIONS && a.spans.length > 20, 'the first one owns all');
	const logs = await kafka.open();
	const b = startWorker(logs.commands, store);
	await until(() => b.owned.size === PARTITIONS / 2 && a.owned.size === PARTITIONS / 2, 'both own half');
	await until(() => b.spans.length > 20, 'the second one commits');
	const kept = [...a.owned];
	await logs.close();
	await until(() => a.owned.size === PARTITIONS, 'the first one owns all again');
	// Partitions that did not move were never interrupted.
	expect(a.revoked.filter((partition) => kept.includes(partition))).toEqual([]);
	expect(a.revoked.length).toBe(PARTITIONS / 2);
	const appended = await load.stop();
	await until(() => total([a, b]) === appended, 'everything committed');
	expect(covered([a, b])).toBe(appended);
	// Each partition that moved was persisted by its old owner before the new owner started.
	expect(a.fenced + b.fenced).toBe(0);
	await expectAllStored(appended);
}, 60_000);

test('an owner that does not release in time is fenced by the store', async () => {
	const logsOfA = await kafka.open({ releaseMs: 1000 });
	const a = startWorker(logsOfA.commands, store);
	await until(() => a.owned.size === PARTITIONS && a.spans.length > 20, 'the first one owns all');
	const { promise, resolve } = Promise.withResolvers<void>();
	a.hold = promise;
	const b = startWorker((await kafka.open()).commands, store);
	await until(() => b.owned.size === PARTITIONS / 2 && b.spans.length > 50, 'the second one owns half');
	a.hold = null;
	resolve();
	await until(() => a.fenced > 0, 'the first one is fenced');
	const appended = await load.stop();
	await until(() => total([a, b]) === appended, 'everything committed');
	expect(covered([a, b])).toBe(appended);
	await expectAllStored(appended);
}, 60_000);

for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
	test(`nothing is lost or written twice if a worker process gets ${signal}`, async () => {
		const options = {
			brokers: kafkaBrokers(),
			prefix: kafka.prefix,
			partitions: PARTITIONS,
			sessionMs: 6000,
		};
		const script = new URL('../support/log/worker-process.ts', import.meta.url).pathname;
		const child = Bun.spawn([process.execPath, script, JSON.stringify(options), place.url, place.schema], {
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		let printed = { owned: [] as string[], committed: 0, fenced: 0 };
		const listening = (async () => {
			const decoder = new TextDecoder();
			for await (const chunk of child.stdout) {
				const line = decoder.decode(chunk).trim().split('\n').at(-1) ?? '';
				if (line.endsWith('}')) printed = JSON.parse(line);
			}
		})();
		try {
			await until(
				() => printed.owned.length === PARTITIONS && printed.committed > 20,
				'the process owns all',
			);
			child.kill(signal);
			const b = startWorker(gateway.commands, store);
			await until(() => b.owned.size === PARTITIONS && b.spans.length > 50, 'the other one owns all');
			if (signal === 'SIGSTOP') {
				child.kill('SIGCONT');
				const before = printed.committed;
				await until(() => printed.owned.length === PARTITIONS / 2, 'the process is back, with half of them');
				await until(() => printed.committed > before + 20, 'the process commits again');
			}
			const appended = await load.stop();
			const progress = async (): Promise<number> => {
				let sum = 0;
				for (let p = 0; p < PARTITIONS; p += 1)
					sum += await store.nextOffset(kafka.partition('conversations', p));
				return sum;
			};
			const deadline = performance.now() + 20_000;
			while ((await progress()) < appended && performance.now() < deadline) await Bun.sleep(100);
			expect(await progress()).toBe(appended);
			await expectAllStored(appended);
		} finally {
			child.kill('SIGKILL');
			await child.exited;
			await listening;
		}
	}, 90_000);
}
