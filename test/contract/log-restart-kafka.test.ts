import { afterAll, beforeAll, expect, test } from 'bun:test';
import { MarkLedger } from '../../src/engine/cluster/mark-ledger.ts';
import type { ReadFact } from '../../src/engine/ports/facts.ts';
import type { PartitionOwner } from '../../src/engine/ports/log.ts';
import { Rejection } from '../../src/model/errors.ts';
import { KAFKA_VARIABLE, kafkaPlace } from '../support/kafka.ts';
import { fromTheBeginning, numbers, record, until } from '../support/log/records.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** The broker goes away, or hangs, and comes back: nothing acknowledged is lost, and whoever asks is told at once. */

/** So many appends are tried while the broker is away. */
const MEANWHILE = 100;
let services: OwnServices;

beforeAll(async () => {
	services = await ownServices('kafka');
}, 300_000);
afterAll(() => services.down());

/** Keeps the partitions that a member owns in `owned`. */
const ownedIn = (owned: Set<string>): Pick<PartitionOwner, 'onAssigned' | 'onRevoked'> => ({
	onAssigned: (partitions) => {
		for (const each of partitions) owned.add(each);
	},
	onRevoked: (partitions) => {
		for (const each of partitions) owned.delete(each);
	},
});

for (const how of ['finish', 'crash'] as const) {
	test(`restarted (${how}) under load`, async () => {
		const kafka = kafkaPlace({ brokers: (services.env[KAFKA_VARIABLE] as string).split(',') });
		const gateway = await kafka.open();
		const worker = await kafka.open();
		const seen: number[] = [];
		const owned = new Set<string>();
		const positions = new Map<string, number>();
		worker.commands.consume(
			async (batch) => {
				seen.push(...batch.map(({ replyTo }) => replyTo.request));
				positions.set(batch[0]!.partition, batch.at(-1)!.offset + 1);
			},
			{
				progress: async (partition) => positions.get(partition) ?? 0,
				...ownedIn(owned),
			},
		);

		let load = true;
		let next = 0;
		const acked: number[] = [];
		const refused: { readonly request: number; readonly error: unknown }[] = [];
		const append = async (): Promise<void> => {
			next += 1;
			const request = next;
			try {
				await gateway.commands.append(record(`C${request % 10}`, request));
				acked.push(request);
			} catch (error) {
				refused.push({ request, error });
			}
		};
		const writers = Array.from({ length: 20 }, async () => {
			while (load) {
				await append();
				await Bun.sleep(5);
			}
		});
		// And some that do not wait for each other, as people do not.
		const pending: Promise<void>[] = [];
		const arrivals = setInterval(() => pending.push(append()), 10);
		await until(() => acked.length > 200 && seen.length > 200, 'load');
		await services.stop('kafka', how);
		await Bun.sleep(1000);
		// While it is away: a refusal that can be retried, at once. What was on its way then may still be told of.
		const [first, refusedBefore] = [next + 1, refused.length];
		await until(() => refused.length > refusedBefore + MEANWHILE, 'refusals while it is away', 40_000);
		// None of them waits for its return.
		const last = next;
		const meanwhile = () => refused.filter(({ request }) => request >= first && request <= last);
		await until(() => meanwhile().length === last + 1 - first, 'a refusal of each', 40_000);
		for (const { error } of meanwhile()) {
			expect(error).toBeInstanceOf(Rejection);
			expect(['service_unavailable', 'outcome_unknown']).toContain((error as Rejection).code);
		}
		await services.start('kafka');
		const ackedBefore = acked.length;
		const returned = performance.now();
		await until(() => acked.length > ackedBefore, 'an append after the return', 40_000);
		const resumedMs = Math.round(performance.now() - returned);
		await until(() => acked.length > ackedBefore + 200, 'appends after the return', 40_000);
		load = false;
		clearInterval(arrivals);
		await Promise.all([...writers, ...pending]);

		let consumed = new Set<number>();
		const isConsumed = (): boolean => {
			consumed = new Set(seen);
			return acked.every((request) => consumed.has(request));
		};
		await until(isConsumed, 'everything acknowledged', 30_000);
		// What was refused outright was never sent; of what was under way at the moment it may be there.
		const unconfirmed = refused.filter(({ error }) => (error as Rejection).detail?.includes('may still'));
		const there = refused.filter(({ request }) => consumed.has(request));
		expect(there.every((each) => unconfirmed.includes(each))).toBe(true);
		// Once each: a request that was sent again is known by its sequence.
		expect(seen.length).toBe(new Set(seen).size);
		console.log(
			`${how}: ${acked.length} acked, ${refused.length} refused (${unconfirmed.length} unconfirmed, ${there.length} of them there); appends went on ${resumedMs} ms after it answered`,
		);

		// The worker is a member of the group again: it shares with another one. The outage can outlast its session;
		// then the other member may join first and own all partitions for a moment. So count what each owns now.
		const others = new Set<string>();
		const other = await kafka.open();
		other.commands.consume(async () => undefined, { ...fromTheBeginning, ...ownedIn(others) });
		const owners = (): string =>
			`two members share; the worker owns [${[...owned]}], the other member [${[...others]}]`;
		await until(() => others.size === 2 && owned.size === 2, owners, 120_000);
		expect([...others].filter((partition) => owned.has(partition))).toEqual([]);
		await kafka.close();
	}, 300_000);
}

const refusal = (append: Promise<void>): Promise<Rejection> =>
	append.then(
		() => null as never,
		(error) => error,
	);

test('a broker is gone: unsent appends fail as such, the first one too, and the watch is notified', async () => {
	const brokers = (services.env[KAFKA_VARIABLE] as string).split(',');
	const kafka = kafkaPlace({ brokers, partitions: 1 });
	const away = new Map<string, string>();
	const reach = {
		lost: (side: string, error: Error) => void away.set(side, error.message),
		regained: (side: string) => void away.delete(side),
	};
	const [poster, idle, worker] = [
		await kafka.open({ reach }),
		await kafka.open({ reach: { ...reach, lost: (_, error) => reach.lost('asking', error) } }),
		await kafka.open({ reach }),
	];
	const seen: number[] = [];
	worker.commands.consume(
		async (batch) => void seen.push(...batch.map(({ replyTo }) => replyTo.request)),
		fromTheBeginning,
	);
	await poster.commands.append(record('C01', 1));
	await until(() => seen.length === 1, 'the first post');
	expect([...away]).toEqual([]);

	const sides = {
		appending: `appending to ${kafka.prefix}conversations`,
		reading: `reading ${kafka.prefix}conversations`,
		asking: 'asking',
	};
	await services.stop('kafka', 'crash');
	// The connections of a process that was killed are closed a moment later; what is sent before may have arrived.
	await until(() => away.has(sides.reading), 'the worker notices');
	await Bun.sleep(1000);
	for (const request of [2, 3])
		expect(await refusal(poster.commands.append(record('C01', request)))).toMatchObject({
			code: 'service_unavailable',
		});
	await idle.probe();
	expect([...away.keys()]).toEqual(expect.arrayContaining(Object.values(sides)));
	for (const cause of away.values()) expect(cause).toMatch(/ECONNREFUSED|Connection closed/);

	await services.start('kafka');
	// Without anybody who appends.
	await until(() => !away.has(sides.appending) && !away.has(sides.reading), 'it is back');
	await poster.commands.append(record('C01', 4));
	await until(() => seen.at(-1) === 4, 'the last post');
	// Its worker may have joined anew, and then begins from the beginning.
	expect([...new Set(seen)]).toEqual([1, 4]);
	await kafka.close();
}, 300_000);

test('a broker hangs: marks and reads continue, and pending appends fail in time', async () => {
	const kafka = kafkaPlace({ brokers: (services.env[KAFKA_VARIABLE] as string).split(','), partitions: 1 });
	const gateway = await kafka.open({ confirmedMs: 3000 });
	const troubles: (string | null)[] = [];
	/** Stamps of the marks that the gateway wrote to the store itself. */
	const stored: number[] = [];
	const ledger = new MarkLedger({
		log: gateway.marks,
		store: { commit: async (facts) => void stored.push(...facts.map(({ at }) => at)) },
		nowMs: () => Date.now(),
		onLog: (error) => void troubles.push(error?.message ?? null),
	});
	const mark = (at: number): ReadFact[] => [
		{ type: 'cursor', user: 'U01', conversation: 'C01', at, cursor: at, revision: 0 },
	];
	const acknowledged: number[] = [];
	const commit = (at: number): Promise<void> =>
		ledger.commit(mark(at)).then(() => void acknowledged.push(at));
	await commit(0);
	expect(troubles).toEqual([]);
	services.pause('kafka');
	try {
		const underWay = refusal(gateway.commands.append(record('C01', 1)));
		await Bun.sleep(50);
		const behindIt = refusal(gateway.commands.append(record('C01', 2)));
		// Each of these would wait for ever if it waited for the broker.
		await commit(1);
		await ledger.flushed();
		expect(troubles.length).toBe(1);
		for (const at of numbers(200, 2)) void commit(at);
		await ledger.flushed();
		expect(acknowledged).toEqual(numbers(202));
		// None of them is acknowledged before the store has it.
		expect(stored).toEqual(numbers(201, 1));
		expect((await behindIt).detail).toBe('the log is unreachable');
		expect((await underWay).detail).toContain('the change may still happen');
		expect((await refusal(gateway.commands.append(record('C01', 3)))).detail).toBe('the log is unreachable');
	} finally {
		services.wake('kafka');
	}
	await until(() => troubles.at(-1) === null, 'the log is back');
	await commit(202);
	const kept: number[] = [];
	gateway.marks.consume({
		progress: async () => 0,
		persist: async (facts) => void kept.push(...facts.map(({ at }) => at)),
	});
	// The first and the last came while the log answered; between them, the log may have any, as the store has all.
	await until(() => kept.includes(202), 'the last mark');
	expect(kept[0]).toBe(0);
	const seen: number[] = [];
	gateway.commands.consume(
		async (batch) => void seen.push(...batch.map(({ replyTo }) => replyTo.request)),
		fromTheBeginning,
	);
	await gateway.commands.append(record('C01', 4));
	await until(() => seen.at(-1) === 4, 'the last post');
	// Of what was refused outright nothing is there.
	expect(seen.filter((request) => request !== 1)).toEqual([4]);
	await kafka.close();
}, 300_000);
