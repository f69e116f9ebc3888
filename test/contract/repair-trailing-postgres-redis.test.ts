import { describe, expect, test } from 'bun:test';
import { Verifier } from '../../src/durability/verifier.ts';
import type { Fact } from '../../src/engine/ports/facts.ts';
import type { Ledger, StateSource } from '../../src/engine/ports/store.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { LAYOUTS, loseMessage } from '../support/redis.ts';
import { readStateWorlds } from '../support/redis-read-state.ts';
import {
	asIs,
	BEGIN,
	conversation,
	created,
	deleted,
	message,
	posted,
	postsIn,
} from '../support/store/facts.ts';
import type { RowChange } from '../support/whole-read-state.ts';

/** Repair while the store lags: changes that it does not have yet must not be lost. */

const CHANNEL = conversation('C01');
const publish = () => undefined;
const MOST_STORE_LAG_MS = 60_000;
const posts = (from: number, to: number) => postsIn(CHANNEL, from, to);

type Entries = Awaited<ReturnType<StateSource['timelineEntries']>>;

/** A source that runs a callback after entries were read and before they are returned. */
const withEntries = (source: StateSource, then: (read: Entries) => Promise<Entries>): StateSource =>
	Object.assign(Object.create(source), {
		timelineEntries: async (...asked: Parameters<StateSource['timelineEntries']>) =>
			then(await source.timelineEntries(...asked)),
	});

for (const layout of LAYOUTS) {
	describe(`repair on ${layout}`, () => {
		const worlds = readStateWorlds(layout);

		/** A store, and processes on it whose marks reach the store when the test releases them. */
		const world = async () => {
			const { store, process: open } = await worlds();
			const process = async (mostStoreLagMs = MOST_STORE_LAG_MS, source: StateSource = store.source) => {
				const held: Fact[] = [];
				const ledger: Ledger = {
					commit: async (facts) => void held.push(...facts),
					flushed: async () => undefined,
					durable: () => 0,
				};
				const made = await open({ mostStoreLagMs, source, ledger });
				return { ...made, releaseMarks: () => store.ledger.commit(held.splice(0)) };
			};
			return { store, process };
		};

		test('effects that are not persisted yet survive the repair, which does not wait for them forever', async () => {
			const { store, process } = await world();
			const { readState, apply, commands, keys } = await process();
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			const unstored = [...posts(6, 9), deleted(CHANNEL, message('C01', BEGIN + 2), BEGIN + 100)];
			await readState.apply(unstored, asIs);
			await loseMessage(commands, keys, 'C01', BEGIN + 4);
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 6 });
			expect(await readState.repair('U02', 'C01')).toBe('store_behind');
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 6 });
			await store.ledger.commit(unstored);
			expect(await readState.repair('U02', 'C01')).toBe('repaired');
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 7 });
		});

		test('effects on their way to the store are not drift', async () => {
			const { store, process } = await world();
			const { readState, apply, commands, keys } = await process();
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			const unstored = posts(6, 9);
			await readState.apply(unstored, asIs);
			const trailing: StateSource = { ...store.source, completeUpTo: () => 0 };
			const verifier = new Verifier(readState, trailing, () => BEGIN + 1_000_000);
			expect((await verifier.verify(['U02'], 'C01')).drifted).toEqual([]);
			expect(verifier.meters.drifted).toBe(0);
			await store.ledger.commit(unstored);
			await loseMessage(commands, keys, 'C01', BEGIN + 4);
			expect((await verifier.verify(['U02'], 'C01')).drifted).toHaveLength(1);
		});

		test('changes during the read of the store survive the repair', async () => {
			const { store, process } = await world();
			const worker = await process();
			await worker.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			let isFirst = true;
			const source: StateSource = Object.assign(Object.create(store.source), {
				briefs: async (...asked: Parameters<StateSource['briefs']>) => {
					const read = await store.source.briefs(...asked);
					if (isFirst) await worker.readState.apply(posts(6, 8), asIs);
					isFirst = false;
					return read;
				},
			});
			const { readState } = await process(MOST_STORE_LAG_MS, source);
			expect(await readState.repair('U02', 'C01')).not.toBe('repaired');
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 7 });
		});

		test('replies that were read from the store before the repair are not loaded after it', async () => {
			const { store, process } = await world();
			const worker = await process();
			const root = BEGIN + 1;
			const reply = (step: number) =>
				posted(CHANNEL, message('C01', BEGIN + step, { user: 'U01', threadTs: root }));
			const follow = { type: 'followed', at: BEGIN + 9, user: 'U02', threadTs: root, cursor: root } as const;
			await store.ledger.commit([
				created(CHANNEL, ['U01', 'U02']),
				...posts(1, 6),
				{ ...follow, conversation: CHANNEL },
				reply(10),
			]);
			let isFirst = true;
			const source: StateSource = Object.assign(Object.create(store.source), {
				threadEntries: async (...asked: Parameters<StateSource['threadEntries']>) => {
					const read = await store.source.threadEntries(...asked);
					if (isFirst) {
						isFirst = false;
						await worker.apply(reply(11));
						expect(await worker.readState.repair('U02', 'C01')).toBe('repaired');
					}
					return read;
				},
			});
			const slow = await process(MOST_STORE_LAG_MS, source);
			expect(await slow.readState.thread('U02', 'C01', root)).toMatchObject({ unread: 2 });
			expect(isFirst).toBe(false);
			expect(await worker.readState.thread('U02', 'C01', root)).toMatchObject({ unread: 2 });
		});

		test('a thread that is no longer followed does not return after the repair', async () => {
			const { store, process } = await world();
			const { readState, apply } = await process();
			const follow = { conversation: CHANNEL, user: 'U02', threadTs: BEGIN + 1 };
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6), {
				...follow,
				type: 'followed',
				at: BEGIN + 10,
				cursor: BEGIN + 1,
			});
			expect(await readState.thread('U02', 'C01', BEGIN + 1)).not.toBeNull();
			const unfollowed: Effect = { ...follow, type: 'unfollowed', at: BEGIN + 11 };
			await readState.apply([unfollowed], asIs);
			expect(await readState.repair('U02', 'C01')).toBe('store_behind');
			expect(await readState.thread('U02', 'C01', BEGIN + 1)).toBeNull();
			await store.ledger.commit([unfollowed]);
			expect(await readState.repair('U02', 'C01')).toBe('repaired');
			expect(await readState.thread('U02', 'C01', BEGIN + 1)).toBeNull();
		});

		test('a mark that is not persisted yet survives the repair', async () => {
			const { process } = await world();
			const { readState, apply, releaseMarks } = await process();
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 3 }, publish);
			expect(await readState.repair('U02', 'C01')).toBe('store_behind');
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 2, lastRead: BEGIN + 3 });
			await releaseMarks();
			expect(await readState.repair('U02', 'C01')).toBe('repaired');
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 2, lastRead: BEGIN + 3 });
		});

		test('a preference on its way to the store survives, even if a newer mark of another gateway is already persisted', async () => {
			const { process } = await world();
			const slow = await process();
			const fast = await process();
			await fast.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			await slow.readState.setPreference('U02', 'C01', { muted: true }, publish);
			await fast.readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 3 }, publish);
			await fast.releaseMarks();
			expect(await fast.readState.repair('U02', 'C01')).toBe('store_behind');
			expect(await fast.readState.row('U02', 'C01')).toMatchObject({ muted: true, unread: 2 });
			await slow.releaseMarks();
			expect(await fast.readState.repair('U02', 'C01')).toBe('repaired');
			expect(await fast.readState.row('U02', 'C01')).toMatchObject({ muted: true, unread: 2 });
		});

		test('a change that has been on its way for too long is replaced by the state in the store', async () => {
			const { process } = await world();
			const lost = await process();
			const { readState, apply, releaseMarks } = await process(0);
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			await lost.readState.setPreference('U02', 'C01', { muted: true }, publish);
			const change = await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 3 }, publish);
			expect((change as RowChange).row).toMatchObject({ muted: true });
			await releaseMarks();
			expect(await readState.repair('U02', 'C01')).toBe('repaired');
			expect(await readState.row('U02', 'C01')).toMatchObject({ muted: false, unread: 2 });
		});

		test('older entries that were read before the repair are not loaded after it', async () => {
			const { store, process } = await world();
			const worker = await process();
			await store.ledger.commit([created(CHANNEL, ['U01', 'U02']), ...posts(1, 301)]);
			let isFirst = true;
			const source = withEntries(store.source, async (read) => {
				if (!isFirst) return read;
				isFirst = false;
				// The entry is older than the loaded ones and persisted, so the repair takes it from the store.
				await worker.apply(deleted(CHANNEL, message('C01', BEGIN + 170), BEGIN + 1_000));
				expect(await worker.readState.repair('U02', 'C01')).toBe('repaired');
				return read;
			});
			const reader = await process(MOST_STORE_LAG_MS, source);
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 299 });
			expect(await worker.readState.row('U02', 'C01')).toMatchObject({ unread: 299 });
		});
	});
}
