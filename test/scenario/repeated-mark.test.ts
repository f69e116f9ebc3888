import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryViews } from '../../src/engine/embedded/read-state/memory-views.ts';
import { Residents } from '../../src/engine/embedded/read-state/residents.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Ledger, Store } from '../../src/engine/ports/store.ts';
import { risingClock } from '../../src/model/ts.ts';
import { BEGIN, conversation, created, left, message, posted } from '../support/store/facts.ts';
import { type RowChange, WholeReadState } from '../support/whole-read-state.ts';

/**
 * Answers to marks that depend on changes in flight: they must wait until these are on disk, because a crash in between would undo
 * what the client has been answered.
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

/** A read state whose writes to the disk are held back. */
async function heldState() {
	const { held, letGo } = heldLedger(store.ledger);
	const residents = new Residents(store.source, held, () => 0);
	await residents.open();
	const clock = risingClock(() => BEGIN + 10);
	return { held, letGo, state: new WholeReadState(new MemoryViews(residents, held, clock)) };
}

const channel = conversation(CHANNEL, { creator: ADA });

test('a mark that repeats one in flight is acknowledged together with it, and not earlier', async () => {
	await store.ledger.commit([
		created(channel, [ADA, GRACE]),
		posted(channel, message(CHANNEL, TS, { user: ADA })),
	]);

	const { letGo, state } = await heldState();
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

test('a mark in a conversation that the user is leaving is rejected when the leave is on disk, and not earlier', async () => {
	const other = conversation('C0000000002', { creator: ADA });
	await store.ledger.commit([created(other, [ADA, GRACE])]);
	const { held, letGo, state } = await heldState();
	expect(await state.row(GRACE, other.id)).toMatchObject({ unread: 0 });
	const effects = [left(other, GRACE, BEGIN + 20, 1)];
	await state.apply(effects, () => void held.commit(effects));
	const marked = state.mark(GRACE, other.id, { type: 'read', ts: TS }, () => undefined);
	expect(await isPending(marked.then(() => undefined))).toBe(true);
	letGo();
	expect(await marked).toBe('not_in_channel');
});
