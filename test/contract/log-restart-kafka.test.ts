import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Refusal } from '../../src/model/errors.ts';
import { KAFKA_VARIABLE, kafkaPlace } from '../support/kafka.ts';
import { entry, fromTheBeginning, until } from '../support/log/entries.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** The broker goes away under load and comes back: nothing acknowledged is lost, and whoever asks is told at once. */

const AWAY_MS = 4000;
let services: OwnServices;

beforeAll(async () => {
	services = await ownServices('kafka');
}, 120_000);
afterAll(() => services.down());

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
				onAssigned: (partitions) => {
					for (const each of partitions) owned.add(each);
				},
				onRevoked: (partitions) => {
					for (const each of partitions) owned.delete(each);
				},
			},
		);

		let load = true;
		let next = 0;
		const acked: number[] = [];
		const refused: { readonly request: number; readonly error: unknown; readonly tookMs: number }[] = [];
		const append = async (): Promise<void> => {
			next += 1;
			const request = next;
			const began = performance.now();
			try {
				await gateway.commands.append(entry(`C${request % 10}`, request));
				acked.push(request);
			} catch (error) {
				refused.push({ request, error, tookMs: performance.now() - began });
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
		const refusedBefore = refused.length;
		await Bun.sleep(AWAY_MS - 1000);
		const meanwhile = refused.slice(refusedBefore);
		expect(meanwhile.length).toBeGreaterThan(100);
		expect(
			meanwhile.every(
				({ error }) =>
					error instanceof Refusal && ['service_unavailable', 'outcome_unknown'].includes(error.code),
			),
		).toBe(true);
		const fast = meanwhile.filter(({ tookMs }) => tookMs < 100).length;
		expect(fast).toBeGreaterThan(meanwhile.length * 0.9);
		await services.start('kafka');
		const ackedBefore = acked.length;
		const returned = performance.now();
		await until(() => acked.length > ackedBefore, 'an append after the return', 40_000);
		const resumedMs = Math.round(performance.now() - returned);
		await until(() => acked.length > ackedBefore + 500, 'appends after the return', 40_000);
		load = false;
		clearInterval(arrivals);
		await Promise.all([...writers, ...pending]);

		const consumed = (): Set<number> => new Set(seen);
		await until(() => acked.every((request) => consumed().has(request)), 'everything acknowledged', 30_000);
		// What was refused outright was never sent; of what was under way at the moment it may be there.
		const unconfirmed = refused.filter(({ error }) => (error as Refusal).detail?.includes('may still'));
		const there = refused.filter(({ request }) => consumed().has(request));
		expect(there.every((each) => unconfirmed.includes(each))).toBe(true);
		// Once each: a request that was sent again is known by its sequence.
		expect(seen.length).toBe(consumed().size);
		console.log(
			`${how}: ${acked.length} acked, ${refused.length} refused (${unconfirmed.length} unconfirmed, ${there.length} of them there); appends went on ${resumedMs} ms after it answered`,
		);

		// The worker is a member of the group again: it shares with another one.
		const others: string[] = [];
		const other = await kafka.open();
		other.commands.consume(async () => undefined, {
			...fromTheBeginning,
			onAssigned: (partitions) => void others.push(...partitions),
		});
		await until(() => others.length === 2 && owned.size === 2, 'two members share');
		expect(others.filter((partition) => owned.has(partition))).toEqual([]);
		await kafka.close();
	}, 120_000);
}
