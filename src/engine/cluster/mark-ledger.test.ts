import { expect, test } from 'bun:test';
import type { Rejection } from '../../model/errors.ts';
import type { ReadFact } from '../ports/facts.ts';
import { MarkLedger } from './mark-ledger.ts';

/** What a mark waits for. Times are those of a clock that the test sets; real services are in test/cluster and test/chaos. */

const mark = (at: number): ReadFact[] => [
	{ type: 'cursor', user: 'U01', conversation: 'C01', at, cursor: at, revision: 0 },
];

function ledgerOn(log: (facts: readonly ReadFact[]) => Promise<void>, store: () => Promise<void>) {
	const told: (string | null)[] = [];
	const ledger = new MarkLedger({
		log: { append: log },
		store: { commit: store },
		nowMs: () => performance.now(),
		onLog: (error) => void told.push(error?.message ?? null),
	});
	return { ledger, told };
}

const down = () => Promise.reject(new Error('down'));
const outcome = (work: Promise<void>): Promise<string> =>
	work.then(
		() => 'kept',
		(error) => (error as Rejection).code,
	);

test('a mark that the log rejects is acknowledged when the store has it', async () => {
	const stored = Promise.withResolvers<void>();
	const { ledger, told } = ledgerOn(down, () => stored.promise);
	let isDone = false;
	const done = ledger.commit(mark(1)).then(() => {
		isDone = true;
	});
	await Bun.sleep(50);
	expect([isDone, told]).toEqual([false, ['down']]);
	stored.resolve();
	await done;
	await ledger.close(0);
});

test('the log is used again once it accepts an append, even without new marks', async () => {
	let isDown = true;
	const { ledger, told } = ledgerOn(
		() => (isDown ? down() : Promise.resolve()),
		() => Promise.resolve(),
	);
	await ledger.commit(mark(1));
	isDown = false;
	while (told.at(-1) !== null) await Bun.sleep(10);
	expect(told).toEqual(['down', null]);
	await ledger.close(0);
});

test('a mark that neither accepts is rejected, and persisted as soon as one does', async () => {
	let isDown = true;
	const kept: number[] = [];
	const { ledger } = ledgerOn(async (facts) => {
		if (isDown) await down();
		kept.push(...facts.map(({ at }) => at));
	}, down);
	expect(await outcome(ledger.commit(mark(1)))).toBe('service_unavailable');
	// From there on nobody is kept waiting.
	expect(await outcome(ledger.commit(mark(2)))).toBe('service_unavailable');
	await ledger.flushed();
	isDown = false;
	while (!kept.includes(2)) await Bun.sleep(10);
	expect(kept).toContain(1);
	while ((await outcome(ledger.commit(mark(3)))) !== 'kept') await Bun.sleep(10);
	await ledger.close(0);
}, 30_000);
