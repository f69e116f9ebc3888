import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryViews } from '../../src/engine/embedded/read-state/memory-views.ts';
import { Residents } from '../../src/engine/embedded/read-state/residents.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Ledger, Store } from '../../src/engine/ports/store.ts';
import { risingClock } from '../../src/model/ts.ts';
import { BEGIN, conversation, created, message, posted } from '../support/store/facts.ts';
import { type RowChange, WholeReadState } from '../support/whole-read-state.ts';

/**
 * Two devices mark the same message: the second mark changes nothing, but must not be acknowledged before the first one
 * is on disk. Otherwise a crash in between would undo an acknowledged mark.
 */

const CHANNEL = 'C0000000001';
const [ADA, GRACE] = ['U0000000001', 'U0000000002'] as const;
const TS = BEGIN + 1;

let directory: string;
let store: Store;
beforeAll(async () => {
	directory = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
	store = await openSqliteStore(directory);
});
afterAll(async () => {
	await store.close();
	await rm(directory, { recursive: true, force: true });
});

/** Holds back writes to the disk until released. */
function heldLedger(ledger: Ledger) {
	const gate = Promise.withResolvers<void>();
	let last: Promise<void> = Promise.resolve();
	const held: Ledger = {
		commit: (facts) => {
			last = gate.promise.then(() => ledger.commit(facts));
			return last;
		},
		flushed: () => last,
		durable: () => ledger.durable(),
	};
	return { held, letGo: () => gate.resolve() };
}

const isPending = async (promise: Promise<void> | null): Promise<boolean> =>
	(await Promise.race([promise?.then(() => 'done') ?? 'done', Bun.sleep(0).then(() => 'pending')])) ===
	'pending';

test('a mark that repeats one in flight is acknowledged together with it, and not earlier', async () => {
	const channel = conversation(CHANNEL, { creator: ADA });
	await store.ledger.commit([
		created(channel, [ADA, GRACE]),
		posted(channel, message(CHANNEL, TS, { user: ADA })),
	]);

	const { held, letGo } = heldLedger(store.ledger);
	const residents = new Residents(store.source, held, () => 0);
	await residents.open();
	const clock = risingClock(() => BEGIN + 10);
	const state = new WholeReadState(new MemoryViews(residents, held, clock));
	const published: number[] = [];
	const mark = async (): Promise<RowChange> => {
		const change = await state.mark(GRACE, CHANNEL, { type: 'read', ts: TS }, (row) =>
			published.push(row.lastRead),
		);
		if (typeof change === 'string') throw new Error(change);
		return change;
	};
	const [first, second] = [await mark(), await mark()];
	expect([first.row.lastRead, second.row.lastRead]).toEqual([TS, TS]);
	expect(await isPending(first.durable)).toBe(true);
	expect(await isPending(second.durable)).toBe(true);
	expect(published).toEqual([]);
	letGo();
	await Promise.all([first.durable, second.durable]);
	// The second mark cannot know whether the first one was published.
	expect(published).toEqual([TS, TS]);
});
