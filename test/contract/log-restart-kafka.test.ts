import { afterAll, beforeAll, expect, test } from 'bun:test';
import { MarkLedger } from '../../src/engine/cluster/mark-ledger.ts';
import type { ReadFact } from '../../src/engine/ports/facts.ts';
import type { PartitionOwner } from '../../src/engine/ports/log.ts';
import { Rejection } from '../../src/model/errors.ts';
import { nextTurn } from '../../src/model/next-turn.ts';
import { KAFKA_VARIABLE, kafkaPlace } from '../support/kafka.ts';
import { fromTheBeginning, numbers, record, until } from '../support/log/records.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** The broker stops or hangs, and returns: nothing acknowledged is lost, and appends fail at once instead of waiting. */

/** Number of rejected appends to wait for while the broker is down. */
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
	test(`a broker is restarted (${how}) under load: nothing acknowledged is lost, and appends meanwhile fail at once`, async () => {
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
		const rejected: { readonly request: number; readonly error: unknown }[] = [];
		const append = async (): Promise<void> => {
			next += 1;
			const request = next;
			try {
				await gateway.commands.append(record(`C${request % 10}`, request));
				acked.push(request);
			} catch (error) {
				rejected.push({ request, error });
			}
		};
		const writers = Array.from({ length: 20 }, async () => {
			while (load) {
				await append();
				await Bun.sleep(5);
			}
		});
		// Further appends that do not wait for each other, like those of different users.
		const pending: Promise<void>[] = [];
		const arrivals = setInterval(() => pending.push(append()), 10);
		await until(() => acked.length > 200 && seen.length > 200, 'load');
		await services.stop('kafka', how);
		await Bun.sleep(1000);
		// While the broker is down, each append is rejected at once with a retryable error, or its outcome is unknown if it was in flight.
		const [first, rejectedBefore] = [next + 1, rejected.length];
		await until(
			() => rejected.length > rejectedBefore + MEANWHILE,
			'rejections while the broker is down',
			40_000,
		);
		// None of them waits for the return of the broker.
		const last = next;
		const meanwhile = () => rejected.filter(({ request }) => request >= first && request <= last);
		await until(() => meanwhile().length === last + 1 - first, 'a rejection of each', 40_000);
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
		// Appends rejected as unavailable were never sent. Only appends in flight at that moment may be in the log.
		const unconfirmed = rejected.filter(({ error }) => (error as Rejection).detail?.includes('may still'));
		const appended = rejected.filter(({ request }) => consumed.has(request));
		expect(appended.every((each) => unconfirmed.includes(each))).toBe(true);
		// Once each: Kafka recognises a repeated batch by its sequence number.
		expect(seen.length).toBe(new Set(seen).size);
		console.log(
			`${how}: ${acked.length} acknowledged, ${rejected.length} rejected (${unconfirmed.length} unconfirmed, ${appended.length} of them in the log); appends resumed ${resumedMs} ms after the broker answered`,
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

const rejection = (append: Promise<void>): Promise<Rejection> =>
	append.then(
		() => null as never,
		(error) => error,
	);

test('a broker is killed: appends that were not sent fail with service_unavailable, and every side reports the outage', async () => {
	const brokers = (services.env[KAFKA_VARIABLE] as string).split(',');
	const kafka = kafkaPlace({ brokers, partitions: 1 });
	const unreachable = new Map<string, string>();
	const reach = {
		lost: (side: string, error: Error) => void unreachable.set(side, error.message),
		regained: (side: string) => void unreachable.delete(side),
	};
	const [poster, idle, worker] = [
		await kafka.open({ reach }),
		await kafka.open({ reach: { ...reach, lost: (_, error) => reach.lost('probing', error) } }),
		await kafka.open({ reach }),
	];
	const seen: number[] = [];
	worker.commands.consume(
		async (batch) => void seen.push(...batch.map(({ replyTo }) => replyTo.request)),
		fromTheBeginning,
	);
	await poster.commands.append(record('C01', 1));
	await until(() => seen.length === 1, 'the first post');
	expect([...unreachable]).toEqual([]);

	const sides = {
		appending: `appending to ${kafka.prefix}conversations`,
		reading: `reading ${kafka.prefix}conversations`,
		probing: 'probing',
	};
	await services.stop('kafka', 'crash');
	// The connections of a killed process are closed a moment later; an append sent before that may have arrived.
	await until(() => unreachable.has(sides.reading), 'the worker notices');
	await Bun.sleep(1000);
	for (const request of [2, 3])
		expect(await rejection(poster.commands.append(record('C01', request)))).toMatchObject({
			code: 'service_unavailable',
		});
	await idle.probe();
	expect([...unreachable.keys()]).toEqual(expect.arrayContaining(Object.values(sides)));
	for (const cause of unreachable.values()) expect(cause).toMatch(/ECONNREFUSED|Connection closed/);

	await services.start('kafka');
	// Detected without any append.
	await until(
		() => !unreachable.has(sides.appending) && !unreachable.has(sides.reading),
		'the broker is reachable',
	);
	await poster.commands.append(record('C01', 4));
	await until(() => seen.at(-1) === 4, 'the last post');
	// The worker may have joined the group again, and then consumes from the beginning.
	expect([...new Set(seen)]).toEqual([1, 4]);
	await kafka.close();
}, 300_000);

test('a broker hangs: marks continue, and pending appends fail in time', async () => {
	const kafka = kafkaPlace({ brokers: (services.env[KAFKA_VARIABLE] as string).split(','), partitions: 1 });
	const gateway = await kafka.open({ confirmedMs: 3000 });
	const logErrors: (string | null)[] = [];
	/** Stamps of the marks that the gateway wrote to the store itself. */
	const stored: number[] = [];
	const ledger = new MarkLedger({
		log: gateway.marks,
		store: { commit: async (facts) => void stored.push(...facts.map(({ at }) => at)) },
		nowMs: () => Date.now(),
		onLog: (error) => void logErrors.push(error?.message ?? null),
	});
	const mark = (at: number): ReadFact[] => [
		{ type: 'cursor', user: 'U01', conversation: 'C01', at, cursor: at, revision: 0 },
	];
	const acknowledged: number[] = [];
	const commit = (at: number): Promise<void> =>
		ledger.commit(mark(at)).then(() => void acknowledged.push(at));
	await commit(0);
	expect(logErrors).toEqual([]);
	await services.pause('kafka');
	try {
		const inFlight = rejection(gateway.commands.append(record('C01', 1)));
		// The first append is sent at the end of this turn of the event loop; the second one waits until the first is confirmed.
		await nextTurn();
		const queued = rejection(gateway.commands.append(record('C01', 2)));
		// Each of these would wait forever if it waited for the broker.
		await commit(1);
		await ledger.flushed();
		expect(logErrors.length).toBe(1);
		for (const at of numbers(200, 2)) void commit(at);
		await ledger.flushed();
		expect(acknowledged).toEqual(numbers(202));
		// No mark is acknowledged before the store has it.
		expect(stored).toEqual(numbers(201, 1));
		expect((await queued).detail).toBe('the log is unreachable');
		expect((await inFlight).detail).toContain('the change may still happen');
		expect((await rejection(gateway.commands.append(record('C01', 3)))).detail).toBe(
			'the log is unreachable',
		);
	} finally {
		services.wake('kafka');
	}
	await until(() => logErrors.at(-1) === null, 'the log accepts appends');
	await commit(202);
	const persisted: number[] = [];
	gateway.marks.consume({
		progress: async () => 0,
		persist: async (facts) => void persisted.push(...facts.map(({ at }) => at)),
	});
	// The log answered at the first and at the last mark. Of those in between, the log may have any; the store has all of them.
	await until(() => persisted.includes(202), 'the last mark');
	expect(persisted[0]).toBe(0);
	const seen: number[] = [];
	gateway.commands.consume(
		async (batch) => void seen.push(...batch.map(({ replyTo }) => replyTo.request)),
		fromTheBeginning,
	);
	await gateway.commands.append(record('C01', 4));
	await until(() => seen.at(-1) === 4, 'the last post');
	// The log has none of the appends that were rejected as unavailable.
	expect(seen.filter((request) => request !== 1)).toEqual([4]);
	await kafka.close();
}, 300_000);
