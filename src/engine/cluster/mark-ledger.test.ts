import { expect, test } from 'bun:test';
import type { Rejection } from '../../model/errors.ts';
import type { ReadFact } from '../ports/facts.ts';
import { MarkLedger } from './mark-ledger.ts';

/** What a mark waits for, with a fake log and a fake store. test/cluster and test/chaos use real services. */

const mark = (at: number): ReadFact[] => [
	{ type: 'cursor', user: 'U01', conversation: 'C01', at, cursor: at, revision: 0 },
];

function ledgerOn(log: (facts: readonly ReadFact[]) => Promise<void>, store: () => Promise<void>) {
	const reported: (string | null)[] = [];
	const ledger = new MarkLedger({
		log: { append: log },
		store: { commit: store },
		nowMs: () => performance.now(),
		onLog: (error) => void reported.push(error?.message ?? null),
	});
	return { ledger, reported };
}

const down = () => Promise.reject(new Error('down'));
const outcome = (work: Promise<void>): Promise<string> =>
	work.then(
		() => 'durable',
		(error) => (error as Rejection).code,
	);

test('a mark that the log rejects is acknowledged when the store has it', async () => {
	const stored = Promise.withResolvers<void>();
	const { ledger, reported } = ledgerOn(down, () => stored.promise);
	let isDone = false;
	const done = ledger.commit(mark(1)).then(() => {
		isDone = true;
	});
	await Bun.sleep(50);
	expect([isDone, reported]).toEqual([false, ['down']]);
	stored.resolve();
	await done;
	await ledger.close(0);
});

test('the log is used again once it accepts an append, even without new marks', async () => {
	let isDown = true;
	const { ledger, reported } = ledgerOn(
		() => (isDown ? down() : Promise.resolve()),
		() => Promise.resolve(),
	);
	await ledger.commit(mark(1));
	isDown = false;
	while (reported.at(-1) !== null) await Bun.sleep(10);
	expect(reported).toEqual(['down', null]);
	await ledger.close(0);
});

test('a mark that neither log nor store accepts is rejected, and made durable once one of them accepts it', async () => {
	let isDown = true;
	const durable: number[] = [];
	const { ledger } = ledgerOn(async (facts) => {
		if (isDown) await down();
		durable.push(...facts.map(({ at }) => at));
	}, down);
	expect(await outcome(ledger.commit(mark(1)))).toBe('service_unavailable');
	// From now on marks are rejected at once.
	expect(await outcome(ledger.commit(mark(2)))).toBe('service_unavailable');
	await ledger.flushed();
	isDown = false;
	while (!durable.includes(2)) await Bun.sleep(10);
	expect(durable).toContain(1);
	while ((await outcome(ledger.commit(mark(3)))) !== 'durable') await Bun.sleep(10);
	await ledger.close(0);
}, 30_000);
