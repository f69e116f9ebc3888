import { describe, expect, test } from 'bun:test';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { MARKS_ARE_LOGGED_MS } from '../../src/engine/cluster/redis/epoch-guard.ts';
import { slotOf } from '../../src/engine/cluster/redis/slots.ts';
import type { CountRow } from '../../src/engine/ports/read-state.ts';
import type { Ledger, StateSource } from '../../src/engine/ports/store.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { snapshotSince } from '../../src/unread/snapshots.ts';
import { eventually } from '../support/eventually.ts';
import { invalidateCopies, LAYOUTS } from '../support/redis.ts';
import { type ReadStateProcess, readStateWorlds } from '../support/redis-read-state.ts';
import {
	asIs,
	BEGIN,
	conversation,
	created,
	cursor,
	deleted,
	edited,
	followed,
	left,
	message,
	posted,
	postsIn,
} from '../support/store/facts.ts';
import type { RowChange } from '../support/whole-read-state.ts';

/** Specific to a shared cache: replays, loads concurrent with changes, several processes, expiry. */

const CHANNEL = conversation('C01');
const publish = () => undefined;
const posts = (from: number, to: number) => postsIn(CHANNEL, from, to);

for (const layout of LAYOUTS) {
	describe(`read state on ${layout}`, () => {
		const world = readStateWorlds(layout);

		test('applying the same effects again changes nothing', async () => {
			const { process } = await world();
			const { readState, apply } = await process();
			const effects = [created(CHANNEL, ['U01', 'U02']), ...posts(1, 6)];
			await apply(...effects);
			await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 4 }, publish);
			for (const user of ['U01', 'U02'])
				await readState.mark(user, 'C01', { type: 'unread', ts: BEGIN + 2 }, publish);
			const before = [await readState.counts('U01'), await readState.counts('U02')];
			await readState.apply(effects, asIs);
			const after = [await readState.counts('U01'), await readState.counts('U02')];
			expect(after.map(({ rows, badge }) => [rows, badge])).toEqual(
				before.map(({ rows, badge }) => [rows, badge]),
			);
			expect(before[1]?.rows[0]).toMatchObject({ unread: 4, revision: 1 });
		});

		test('edits and deletes of entries that are not loaded show once these are loaded, whether or not the changes are persisted', async () => {
			const { process } = await world();
			const first = await process();
			await first.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 301));
			const second = await process({ prefix: `${first.keys.prefix}cold:` });
			const old = message('C01', BEGIN + 10, { user: 'U01' });
			const named = { ...old, ts: BEGIN + 11, named: ['U02'] };
			// Applied and not committed: the store still has the old state of both.
			await second.readState.apply(
				[
					{
						type: 'deleted',
						at: BEGIN + 1_000,
						conversation: CHANNEL,
						message: { ...old, deleted: true },
						previous: old,
						tombstone: false,
						thread: null,
					},
					{
						type: 'edited',
						at: BEGIN + 1_001,
						conversation: CHANNEL,
						message: named,
						previous: { ...named, named: [] },
						thread: null,
					},
				],
				asIs,
			);
			expect(await second.readState.row('U02', 'C01')).toMatchObject({ unread: 299, mentions: 1 });
			const items = await second.readState.unread('U02', 'C01');
			expect(items.filter(({ reasons }) => reasons.length > 0).map(({ ts }) => ts - BEGIN)).toEqual([11]);
			expect(items.some(({ ts }) => ts === BEGIN + 10)).toBe(false);
		});

		test('a user whose state is not loaded can join and leave', async () => {
			const { process } = await world();
			const { readState, commands, keys } = await process();
			await readState.apply([created(CHANNEL, ['U01']), ...posts(1, 4)], asIs);
			const joined = (at: number): Effect => ({
				type: 'joined',
				at: BEGIN + at,
				conversation: CHANNEL,
				users: ['U02', 'U03'],
				inviter: null,
				cursor: BEGIN + 3,
				latest: BEGIN + 3,
			});
			await readState.apply([joined(10)], asIs);
			await readState.apply([left(CHANNEL, 'U03', BEGIN + 11, 2)], asIs);
			const fields = await commands.hgetall(keys.fields('U02'));
			expect(Object.keys(fields).sort()).toEqual(['c:C01', 'late', 'late_seen', 'since', 'stamp', 'version']);
			await readState.apply(posts(20, 22), asIs);
			expect(await readState.row('U02', 'C01')).toMatchObject({
				unread: 2,
				lastRead: BEGIN + 3,
				revision: 0,
			});
			expect(await readState.row('U03', 'C01')).toBeNull();
		});

		test('the changes of one command appear together', async () => {
			const { process } = await world();
			const [reader, worker] = [await process(), await process()];
			await reader.apply(created(CHANNEL, ['U01', 'U02', 'U03']), ...posts(1, 3));
			// The first reply of a thread: with the same stamp, the root's author follows before it.
			const reply = message('C01', BEGIN + 10, { user: 'U03', threadTs: BEGIN + 1, broadcast: true });
			const follow: Effect = {
				type: 'followed',
				at: reply.ts,
				conversation: CHANNEL,
				user: 'U01',
				threadTs: BEGIN + 1,
				cursor: BEGIN + 1,
			};
			await worker.apply(follow, posted(CHANNEL, reply));
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({
				unread: 3,
				position: { conversation: reply.ts },
			});
		});

		test('positions rise with every change, even if the clock of the changing process is behind', async () => {
			const { process } = await world();
			const ahead = await process({ aheadMicros: 2_000_000 });
			const behind = await process();
			const other = conversation('C02');
			await ahead.apply(
				created(CHANNEL, ['U01', 'U02']),
				...posts(1, 3),
				created(other, ['U01', 'U02']),
				posted(other, message('C02', BEGIN + 5, { user: 'U01' })),
			);
			await ahead.readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 2 }, publish);
			const before = (await behind.readState.row('U02', 'C02')) as CountRow;
			const marked = (await behind.readState.mark(
				'U02',
				'C02',
				{ type: 'read', ts: BEGIN + 5 },
				publish,
			)) as RowChange;
			expect([before.unread, marked.row.unread]).toEqual([1, 0]);
			expect(marked.row.position.user).toBeGreaterThan(before.position.user);
			// The process that applies the post stamps its author's changes.
			await behind.apply(posted(other, message('C02', BEGIN + 6, { user: 'U02' })));
			const after = (await behind.readState.row('U02', 'C02')) as CountRow;
			expect(after.lastRead).toBe(BEGIN + 6);
			expect(after.position.user).toBeGreaterThan(marked.row.position.user);
		});

		test('the first reply of a thread moves its author’s cursor, even after a mark that a fast clock stamped', async () => {
			const { process } = await world();
			const ahead = await process({ aheadMicros: 2_000_000 });
			const behind = await process();
			await ahead.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 3));
			await ahead.readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 2 }, publish);
			const reply = message('C01', BEGIN + 3, { user: 'U02', threadTs: BEGIN + 2, broadcast: true });
			// One command: the root's author follows, then the reply is posted, both with its stamp.
			await behind.apply(
				followed(CHANNEL, 'U01', BEGIN + 2, BEGIN + 3, BEGIN + 2),
				posted(CHANNEL, reply),
				followed(CHANNEL, 'U02', BEGIN + 2, BEGIN + 3, BEGIN + 3),
			);
			expect(await behind.readState.row('U02', 'C01')).toMatchObject({ lastRead: BEGIN + 3, unread: 0 });
		});

		test('a conversation, its version and its changes are kept or evicted together', async () => {
			const { store, process } = await world();
			const { readState, apply, commands, keys } = await process({ ttlSeconds: 4 });
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 4));
			const parts = [keys.meta('C01'), keys.version('C01'), keys.recent('C01')];
			const uses = {
				member: () => readState.member('U02', 'C01'),
				memberships: () => readState.memberships('U02'),
				row: () => readState.row('U02', 'C01'),
				counts: () => readState.counts('U02'),
				moment: () =>
					snapshotSince({ views: readState.port, changes: store.changes, mostChanges: 100 }, 'U02', 0, 0),
				unread: () => readState.unread('U02', 'C01'),
				inbox: () => readState.inbox('U02', { limit: 1, start: null, unreadFirst: true }),
			};
			for (const key of parts) await commands.pexpire(key, 2_000);
			const renewed = async () =>
				(await Promise.all(parts.map((key) => commands.pttl(key)))).map((ms) => ms > 2_000);
			// Reads renew nothing: without further changes, the store has everything when the keys expire.
			for (const [name, use] of Object.entries(uses)) {
				await use();
				expect([name, ...(await renewed())]).toEqual([name, ...parts.map(() => false)]);
			}
			await apply(...posts(10, 11));
			expect(await renewed()).toEqual(parts.map(() => true));
		});

		test('a copy is compared by its version alone, even after it applied a change', async () => {
			const { process } = await world();
			const [reader, worker] = [await process(), await process()];
			await worker.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			await reader.readState.row('U02', 'C01');
			await worker.apply(...posts(6, 8));
			const called = { views: 0, versions: 0 };
			const scripts = reader.commands as { -readonly [Name in keyof Commands]: Commands[Name] };
			const { views, versions } = scripts;
			scripts.views = (...args) => {
				called.views += 1;
				return views.call(reader.commands, ...args);
			};
			scripts.versions = (...args) => {
				called.versions += 1;
				return versions.call(reader.commands, ...args);
			};
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 7 });
			expect(called).toEqual({ views: 1, versions: 1 });
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 7 });
			expect(called).toEqual({ views: 1, versions: 2 });
		});

		test('a reader gets the thread that it asked for, even if another read replaced the copy meanwhile', async () => {
			const { process } = await world();
			const { readState, apply, commands, keys } = await process();
			const root = BEGIN + 1;
			const follow: Effect = {
				type: 'followed',
				at: BEGIN + 10,
				conversation: CHANNEL,
				user: 'U02',
				threadTs: root,
				cursor: root,
			};
			const reply = message('C01', BEGIN + 10, { user: 'U01', threadTs: root });
			await apply(created(CHANNEL, ['U01', 'U02', 'U03']), ...posts(1, 3), follow, posted(CHANNEL, reply));
			const before = await readState.thread('U02', 'C01', root);
			expect(before).toMatchObject({ unread: 1 });
			await readState.row('U03', 'C01');
			// The read of U02 takes long, and the read of the conversation does not.
			const scripts = commands as { -readonly [Name in keyof typeof commands]: (typeof commands)[Name] };
			const view = commands.userChanges;
			scripts.userChanges = async (...asked) => {
				scripts.userChanges = view;
				await Bun.sleep(100);
				await invalidateCopies(commands, keys, 'C01');
				await readState.row('U03', 'C01');
				return view.call(commands, ...asked);
			};
			expect(await readState.thread('U02', 'C01', root)).toEqual(before);
		});

		test('a follow that arrives late does not replace a later mark', async () => {
			const { process } = await world();
			const [cutOff, owner] = [await process(), await process()];
			const root = BEGIN + 1;
			const { commands, readState } = cutOff;
			await owner.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 3));
			const follow = { type: 'followed', user: 'U02', threadTs: root, cursor: root } as const;
			const effects: Effect[] = [
				{ ...follow, at: BEGIN + 10, conversation: CHANNEL },
				posted(CHANNEL, message('C01', BEGIN + 10, { user: 'U01', threadTs: root })),
			];
			// The former owner is cut off after its first script: its next script arrives much later.
			const scripts = commands as { -readonly [Name in keyof typeof commands]: (typeof commands)[Name] };
			const [setUser, sent, healed] = [commands.setUser, Promise.withResolvers(), Promise.withResolvers()];
			scripts.setUser = async (...asked) => {
				scripts.setUser = setUser;
				sent.resolve(undefined);
				await healed.promise;
				return setUser.call(commands, ...asked);
			};
			const late = readState.apply(effects, asIs);
			await sent.promise;
			await owner.readState.apply(effects, asIs);
			const mark = { type: 'read', ts: BEGIN + 10 } as const;
			await owner.readState.markThread('U02', 'C01', root, mark, publish);
			expect(await owner.readState.thread('U02', 'C01', root)).toMatchObject({ unread: 0 });
			healed.resolve(undefined);
			await late;
			expect(await owner.readState.thread('U02', 'C01', root)).toMatchObject({
				unread: 0,
				lastRead: BEGIN + 10,
			});
		});

		test('users who are far behind are counted with very little memory for copies, many at once', async () => {
			const { store, whole, process } = await farBack();
			/** The newest ts of each range that is read from the store. */
			const reads: number[] = [];
			const source: StateSource = Object.assign(Object.create(store.source), {
				timelineEntries: (...asked: Parameters<StateSource['timelineEntries']>) => {
					reads.push(asked[2]);
					return store.source.timelineEntries(...asked);
				},
			});
			const tiny = await process({
				source,
				viewBytes: 1_000,
				prefix: `${whole.keys.prefix}tiny:`,
			});
			await tiny.readState.member('U02', 'C01');
			const row = { ...(await whole.readState.row('U02', 'C01')), position: 0 };
			const rows = await Promise.all(Array.from({ length: 8 }, () => tiny.readState.row('U02', 'C01')));
			for (const one of rows) expect({ ...one, position: 0 }).toEqual(row as never);
			// They share the reads: no range is read twice. One reader needs two reads, of which the second is larger. If another reader begins
			// in between, it reads as little as the first one did, and a third read is needed.
			const shared = reads.splice(0);
			expect(shared).toEqual([...new Set(shared)]);
			expect(shared.length).toBeLessThanOrEqual(3);
			// The result is too large to be cached, and is read again.
			await tiny.readState.row('U02', 'C01');
			expect(reads).toHaveLength(2);
			await tiny.readState.apply([posted(CHANNEL, message('C01', BEGIN + 500, { user: 'U02' }))], asIs);
			expect(await tiny.readState.row('U02', 'C01')).toMatchObject({ lastRead: 0 });
		});

		test('marks of one user at two processes are all applied', async () => {
			const { process } = await world();
			const here = await process();
			const there = await process();
			await here.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 42));
			const marks = Array.from({ length: 40 }, (_, index) => ({
				on: index % 2 === 0 ? here : there,
				ts: BEGIN + 2 + index,
			}));
			const changes = await Promise.all(
				marks.map(({ on, ts }) => on.readState.mark('U02', 'C01', { type: 'messages', tss: [ts] }, publish)),
			);
			for (const change of changes) await (change as RowChange).durable;
			expect(await there.readState.row('U02', 'C01')).toMatchObject({ unread: 1, lastRead: 0 });
			await here.readState.mark('U02', 'C01', { type: 'messages', tss: [BEGIN + 1] }, publish);
			expect(await there.readState.row('U02', 'C01')).toMatchObject({ unread: 0, lastRead: BEGIN + 41 });
		});

		test('a repeated mark publishes changes that the first process may not have published', async () => {
			const { store, process } = await world();
			const here = await process();
			await here.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			// The process dies after the mark is in the log, and before anything is published.
			const ledger: Ledger = Object.assign(Object.create(store.ledger), {
				commit: (facts: Parameters<Ledger['commit']>[0]) =>
					store.ledger.commit(facts).then(() => Promise.withResolvers<void>().promise),
			});
			const dying = await process({ ledger });
			const published: CountRow[] = [];
			const mark = { type: 'read', ts: BEGIN + 3 } as const;
			await dying.readState.mark('U02', 'C01', mark, (row) => published.push(row));
			expect(published).toEqual([]);
			const repeated = await here.readState.mark('U02', 'C01', mark, (row) => published.push(row));
			await (repeated as RowChange).durable;
			expect(published).toMatchObject([{ conversation: 'C01', lastRead: BEGIN + 3, unread: 2 }]);
		});

		test('an emptied Redis is detected, and reads are rejected until a new epoch begins; then the counts are the same', async () => {
			const { process } = await world();
			const { readState, apply, commands, keys, epochs } = await process();
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			const before = await readState.row('U02', 'C01');
			// One lost node is enough.
			await commands.unlink(keys.meta('C01'), keys.version('C01'), keys.recent('C01'));
			await commands.unlink(await epochs.markerBeside('C01'));
			const rejected = await readState.row('U02', 'C01').catch((error) => error);
			expect(rejected).toMatchObject({ code: 'service_unavailable' });
			expect(await epochs.lost()).toHaveLength(1);
			await epochs.clear();
			await epochs.begin(() => 2);
			expect(await epochs.completeSince()).toBe(2);
			const after = await readState.row('U02', 'C01');
			expect({ ...after, position: 0 }).toEqual({ ...(before as CountRow), position: 0 });
		});

		test('changes stay in Redis until the store has them, and copies that lack them get the same counts', async () => {
			const { process } = await world();
			const [worker, reader] = [await process({ keptChanges: 10 }), await process()];
			const { readState, apply, commands, keys } = worker;
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 31));
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 30 });
			const leftAfter = async (stamp: number, next: number) => {
				readState.stored = BEGIN + stamp;
				await apply(...posts(next, next + 1));
				return commands.zcard(keys.recent('C01'));
			};
			expect(await leftAfter(0, 40)).toBe(31);
			expect(await leftAfter(15, 41)).toBe(17);
			expect(await leftAfter(15, 42)).toBe(18);
			// A conversation that is never quiet is trimmed too.
			for (let step = 43; step < 60; step += 1)
				expect(await leftAfter(step - 1, step)).toBeLessThanOrEqual(20);
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 50 });
			expect(await (await process()).readState.row('U02', 'C01')).toMatchObject({ unread: 50 });
		});

		test('a copy is not loaded from a store that lost changes which Redis no longer has', async () => {
			const { store, process } = await world();
			const { readState, apply } = await process({ keptChanges: 2 });
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 11));
			readState.stored = BEGIN + 10;
			await apply(...posts(20, 21));
			let lost = 1;
			const source: StateSource = Object.assign(Object.create(store.source), {
				briefs: async (...asked: Parameters<StateSource['briefs']>) =>
					(await store.source.briefs(...asked)).map((brief) => ({ ...brief, stamp: brief.stamp - lost })),
			});
			const { readState: cold } = await process({ source });
			expect(await cold.row('U02', 'C01')).toMatchObject({ unread: 11 });
			lost = 15;
			const { readState: behind } = await process({ source });
			const rejected = await behind.row('U02', 'C01').catch((error) => error);
			expect(rejected).toMatchObject({ code: 'service_unavailable' });
			lost = 0;
			expect(await behind.row('U02', 'C01')).toMatchObject({ unread: 11 });
		});

		test('if all loaded entries are deleted, the newest message comes from the store', async () => {
			const { store, process } = await world();
			await store.ledger.commit([created(CHANNEL, ['U01', 'U02']), ...posts(1, 11)]);
			const { readState, apply } = await process();
			const remove = (step: number) => deleted(CHANNEL, message('C01', BEGIN + step), BEGIN + 100 - step);
			for (const step of [10, 9, 8]) {
				await readState.apply([remove(step)], asIs);
				expect(await readState.row('U02', 'C01')).toMatchObject({
					unread: step - 1,
					latest: BEGIN + step - 1,
				});
			}
			await readState.apply([edited(CHANNEL, message('C01', BEGIN + 3), BEGIN + 93, 'x'), remove(6)], asIs);
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 6, latest: BEGIN + 7 });
			await apply(...[5, 4, 3, 2, 1].map(remove));
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 1, latest: BEGIN + 7 });
			await apply({ ...remove(7), at: BEGIN + 200 });
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 0, latest: 0 });
		});

		test('a copy without entries, whose newest message was deleted before two more arrived, is usable at once', async () => {
			const { process } = await world();
			const [reader, worker] = [await process(), await process()];
			await worker.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 4));
			const mark = { type: 'read', ts: BEGIN + 3 } as const;
			await reader.readState.mark('U02', 'C01', mark, () => undefined);
			await invalidateCopies(reader.commands, reader.keys, 'C01');
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 0, latest: BEGIN + 3 });
			const remove = deleted(CHANNEL, message('C01', BEGIN + 3), BEGIN + 10);
			await worker.readState.apply([remove, ...posts(11, 13)], asIs);
			expect(await reader.readState.row('U02', 'C01')).toMatchObject({ unread: 2, latest: BEGIN + 12 });
		});

		/** A channel with every kind of state, persisted; one process that loads all of it, and one that loads little. */
		const farBack = async () => {
			const { store, process } = await world();
			const mixed = Array.from({ length: 400 }, (_, index) => {
				const user = index % 50 === 20 ? 'U02' : 'U01';
				const named = index % 40 === 3 ? ['U02', 'U03'] : index % 40 === 4 ? ['U03'] : [];
				const [channelWide, here] = [index % 90 === 8, index % 60 === 9];
				return posted(CHANNEL, message('C01', BEGIN + 1 + index, { user, named, channelWide, here }));
			});
			await store.ledger.commit([
				created(CHANNEL, ['U01', 'U02']),
				...mixed,
				{ type: 'activity', user: 'U02', at: BEGIN + 100, active: true },
				{ type: 'activity', user: 'U02', at: BEGIN + 300, active: false },
			]);
			const whole = await process();
			const little = await process({ viewBytes: 1_000, prefix: `${whole.keys.prefix}little:` });
			const same = async (about: string) => {
				const [a, b] = await Promise.all(
					[whole, little].map(async ({ readState }) => ({
						row: { ...(await readState.row('U02', 'C01')), position: 0 },
						of: await readState.unread('U02', 'C01'),
						everywhere: await readState.unread('U02'),
					})),
				);
				expect({ about, ...b }).toEqual({ about, ...(a as object) } as never);
			};
			const both = async (effects: readonly Effect[]) => {
				await Promise.all([whole, little].map(({ readState }) => readState.apply(effects, asIs)));
			};
			return { store, process, whole, little, same, both };
		};

		test('users who are far behind are counted from the store, with changes that it lacks', async () => {
			const { whole, little, same, both } = await farBack();
			await same('cold');
			const old = message('C01', BEGIN + 12, { user: 'U01' });
			const named = { ...old, ts: BEGIN + 30 };
			// Applied and not persisted.
			await both([
				deleted(CHANNEL, old, BEGIN + 1_000),
				edited(CHANNEL, named, BEGIN + 1_001, 'x', { named: ['U02'] }),
				posted(CHANNEL, message('C01', BEGIN + 1_002, { user: 'U01' })),
			]);
			await same('changed below and above');
			const marks = [
				{ type: 'messages', tss: [BEGIN + 200] },
				{ type: 'messages', tss: [BEGIN + 2] },
				{ type: 'messages', tss: [BEGIN + 1_002] },
				{ type: 'messages', tss: [BEGIN + 1] },
				{ type: 'messages', tss: [BEGIN + 12] },
				{
					type: 'messages',
					tss: [BEGIN + 1_002, BEGIN + 390, BEGIN + 391, BEGIN + 13, BEGIN + 77, BEGIN + 14],
				},
				{ type: 'messages', tss: [BEGIN + 5, BEGIN + 777] },
				{ type: 'read', ts: BEGIN + 395 },
				{ type: 'unread', ts: BEGIN + 12 },
				{ type: 'unread', ts: BEGIN + 9 },
			] as const;
			for (const mark of marks) {
				const [a, b] = await Promise.all(
					[whole, little].map(async ({ readState }) => {
						const change = await readState.mark('U02', 'C01', mark, publish);
						if (typeof change === 'string') return change;
						await change.durable;
						return { ...change.row, position: 0, ignored: change.ignored };
					}),
				);
				expect(b).toEqual(a as never);
				await same(JSON.stringify(mark));
			}
		});

		test('a mark of a user who is far behind reads no skipped entries, even if its ts is in the future', async () => {
			const { store, process, whole } = await farBack();
			const fails = async () => {
				throw new Error('the store is down');
			};
			const source: StateSource = Object.assign(Object.create(store.source), { timelineEntries: fails });
			const { readState } = await process({ source, prefix: `${whole.keys.prefix}down:` });
			// A mark far back needs the entries after it, which only the store has.
			const old = readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 10 }, publish);
			await expect(old).rejects.toThrow('the store is down');
			expect(await readState.member('U02', 'C01')).toMatchObject({ lastRead: 0 });
			const marked = await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 395 }, publish);
			expect(marked).toMatchObject({ row: { lastRead: BEGIN + 395, unread: 5 } });
			const past = await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 5_000 }, publish);
			expect(past).toMatchObject({ row: { lastRead: BEGIN + 400, unread: 0 } });
			const cold = await process({ source, prefix: `${whole.keys.prefix}cold:` });
			await cold.readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 5_000 }, publish);
			expect(await cold.readState.row('U02', 'C01')).toMatchObject({ lastRead: BEGIN + 400, unread: 0 });
		});

		test('a post of a user who is far behind moves the cursor only if nothing is unread, loaded or not', async () => {
			const { little, same, both } = await farBack();
			await both([posted(CHANNEL, message('C01', BEGIN + 500, { user: 'U02' }))]);
			await same('unread');
			const { readState } = little;
			await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 350 }, publish);
			const [last, ...others] = await readState.unread('U02', 'C01');
			const remove = (ts: number, at: number) =>
				deleted(CHANNEL, message('C01', ts, { user: 'U01' }), BEGIN + at);
			const post = (at: number) => posted(CHANNEL, message('C01', BEGIN + at, { user: 'U02' }));
			await readState.apply(
				others.map(({ ts }, index) => remove(ts, 1_000 + index)),
				asIs,
			);
			await readState.apply([post(2_000)], asIs);
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 1, lastRead: BEGIN + 350 });
			await readState.apply([remove(last?.ts ?? 0, 3_000)], asIs);
			await readState.apply([post(4_000)], asIs);
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 0, lastRead: BEGIN + 4_000 });
		});

		test('beyond the count cap, older mentions still count', async () => {
			const { store, process } = await world();
			const all = Array.from({ length: 13_000 }, (_, index) =>
				posted(
					CHANNEL,
					message('C01', BEGIN + 1 + index, {
						user: 'U01',
						...(index === 5 ? { named: ['U02'] } : {}),
						...(index === 6 ? { channelWide: true } : {}),
					}),
				),
			);
			await store.ledger.commit([created(CHANNEL, ['U01', 'U02']), ...all]);
			const { readState } = await process();
			const row = await readState.row('U02', 'C01');
			expect(row).toMatchObject({ unread: 10_000, capped: true, mentions: 2, badge: 2 });
			const inBadge = (await readState.unread('U02')).filter(({ reasons }) => reasons.length > 0);
			expect(inBadge.map(({ ts }) => ts - BEGIN)).toEqual([6, 7]);
			expect((await readState.unread('U02', 'C01')).length).toBe(13_000);
		});

		/** U02 and a channel with five messages. */
		const begun = async (more: { ledger?: Ledger } = {}) => {
			const { store, process } = await world();
			const made = await process(more);
			await made.apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			const mark = async (ts: number) => {
				const change = await made.readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + ts }, publish);
				await (change as RowChange).durable;
			};
			return { store, process, mark, ...made };
		};
		const UNAVAILABLE = { code: 'service_unavailable' };

		test('Redis rejects a change that was decided in an earlier epoch', async () => {
			const { guard, epochs, commands, keys } = await begun();
			const [sent, arrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
			const setting = guard.retrying(async () => {
				const read = String(await epochs.completeSince());
				const token = (await guard.begin(['U03'])).tokenOf(slotOf('U03'));
				sent.resolve();
				await arrives.promise;
				const stateKeys = [keys.fields('U03'), keys.fieldNames('U03')];
				return commands.setUser(...stateKeys, ...token, 60, '-', 0, 'stamp', read);
			});
			await sent.promise;
			await epochs.clear();
			await epochs.begin(() => 2);
			arrives.resolve();
			await setting;
			// The change was decided again, in the new epoch.
			expect(await commands.hget(keys.fields('U03'), 'stamp')).toBe('2');
		});

		test('Redis rejects the creation of a conversation that was decided in an earlier epoch', async () => {
			const { process, epochs, apply } = await begun();
			const other = conversation('C02');
			const late = await process();
			await late.readState.counts('U02');
			const marker = await epochs.markerBeside('C02');
			const token = [marker, (await late.commands.get(marker)) ?? ''];
			await epochs.clear();
			await epochs.begin(() => 2);
			const keys = [late.keys.meta('C02'), late.keys.recent('C02'), late.keys.version('C02')];
			const command = [BEGIN, 'create;public;0'];
			const rejected = await late.commands
				.apply(...keys, ...token, 60, 1, 0, 128, '[]', ...command)
				.catch((error) => error);
			expect(String(rejected)).toContain('OVER');
			await apply(created(other, ['U01']));
			expect(await late.readState.row('U01', 'C02')).toMatchObject({ unread: 0 });
		});

		test('a mark that reaches the log only after Redis was rebuilt is not acknowledged', async () => {
			const logged = Promise.withResolvers<void>();
			const ledger: Ledger = {
				commit: () => logged.promise,
				flushed: async () => undefined,
				durable: () => 0,
			};
			const { process, epochs, mark } = await begun();
			const { readState } = await process({ ledger });
			const change = await readState.mark('U02', 'C01', { type: 'read', ts: BEGIN + 2 }, publish);
			await mark(3);
			await epochs.clear();
			expect(await mark(4).catch((error) => error)).toMatchObject(UNAVAILABLE);
			await Bun.sleep(MARKS_ARE_LOGGED_MS);
			await epochs.begin(() => 2);
			logged.resolve();
			const rejected = await Promise.resolve((change as RowChange).durable).catch((error) => error);
			expect(rejected).toMatchObject(UNAVAILABLE);
			await mark(4);
		});

		test('a Redis process of another epoch is not trusted', async () => {
			const { store, process, epochs, commands, keys, mark, readState } = await begun();
			await mark(2);
			const stored = await store.source.user('U02');
			for (const node of 'nodes' in commands ? commands.nodes('master') : [commands])
				for (const marker of await node.keys(`${keys.prefix}*:epoch3`))
					await node.set(marker, '1 that-of-before');
			expect(await epochs.lost()).not.toEqual([]);
			// A Redis process that replaced another one is always reached over a new connection.
			const closed = Promise.withResolvers<void>();
			commands.once('close', closed.resolve);
			commands.disconnect(true);
			await closed.promise;
			for (const work of [
				() => mark(3),
				() => readState.row('U02', 'C01'),
				() => readState.counts('U02'),
				async () => readState.apply(posts(10, 12), asIs),
			])
				expect(await work().catch((error) => error)).toMatchObject(UNAVAILABLE);
			expect(await store.source.user('U02')).toEqual(stored);
			await eventually(() => epochs.clear(), 5_000);
			await epochs.begin(() => 2);
			// A slow mark is rejected if its process did not know of the new epoch yet.
			await eventually(() => mark(3), 5_000);
			expect(await (await process()).epochs.completeSince()).toBe(2);
		});

		test('data that exist only in Redis survive the removal of the read state', async () => {
			const { epochs, commands, keys } = await begun();
			const other = [keys.away('U02'), keys.ticket('one'), keys.gatewayAlive('N1')];
			for (const key of other) await commands.set(key, '1');
			await commands.zadd(keys.fieldNames('U03'), 1, 'stamp');
			await epochs.clear();
			const count = async (...names: string[]) =>
				(await Promise.all(names.map((key) => commands.exists(key)))).filter(Boolean).length;
			expect(await count(...other)).toBe(3);
			const gone = [
				keys.fields('U02'),
				keys.fieldNames('U03'),
				keys.meta('C01'),
				keys.version('C01'),
				keys.recent('C01'),
			];
			expect(await count(...gone)).toBe(0);
		});

		test('a repeated mark reaches a process whose copy was loaded before the store had the mark', async () => {
			const { process, store } = await world();
			await store.ledger.commit([created(CHANNEL, ['U01', 'U02']), ...posts(1, 4)]);
			const [one, other] = [await process(), await process()];
			expect(await other.readState.row('U02', 'C01')).toMatchObject({ unread: 3 });
			// As after a rebuild of Redis that the mark was too late for.
			await store.ledger.commit([cursor('U02', 'C01', BEGIN + 3, BEGIN + 10)]);
			const mark = { type: 'read', ts: BEGIN + 3 } as const;
			const change = (await one.readState.mark('U02', 'C01', mark, publish)) as RowChange;
			await change.durable;
			expect(await other.readState.row('U02', 'C01')).toMatchObject({ unread: 0, lastRead: BEGIN + 3 });
		});

		test('a process whose copy was loaded from the store notices that the store has lost changes since then', async () => {
			const { process, store } = await world();
			await store.ledger.commit([created(CHANNEL, ['U01', 'U02']), ...posts(1, 4)]);
			let isRolledBack = false;
			const source: StateSource = {
				...store.source,
				briefs: async (ids) =>
					(await store.source.briefs(ids)).map((brief) =>
						isRolledBack ? { ...brief, stamp: BEGIN + 1 } : brief,
					),
			};
			const { readState } = await process({ source });
			const look = (after: number | null) =>
				readState.port.read('U02', { some: () => [{ id: 'C01', after, threads: [] }] }, () => 'read');
			expect(await look(null)).toBe('read');
			isRolledBack = true;
			await expect(look(0)).rejects.toThrow('service_unavailable');
			isRolledBack = false;
			expect(await look(0)).toBe('read');
		});

		describe('the lateness of changes', () => {
			const seconds = (since: number): number => Date.now() * 1000 - since * 1_000_000;
			/** What has changed for U02 since then, as a process sees it. */
			const changesIn = ({ readState }: ReadStateProcess, since: number) =>
				readState.port.read('U02', { all: 'conversations', includesLeft: true }, (views) =>
					views.changedSince(since),
				);

			test('includes a leave that is applied late', async () => {
				const { process } = await world();
				const one = await process();
				await one.apply(created(CHANNEL, ['U01', 'U02'], seconds(40)));
				await Bun.sleep(5);
				const since = seconds(0);
				expect((await changesIn(one, since)).lateness).toBe(0);
				await one.apply(left(CHANNEL, 'U02', seconds(30), 1));
				expect((await changesIn(one, since)).lateness).toBeGreaterThan(29_000_000);
			});

			test('includes a conversation that is created late, for its members', async () => {
				const { process } = await world();
				const one = await process();
				await one.apply(created(CHANNEL, ['U01', 'U02'], seconds(30)));
				expect((await changesIn(one, seconds(10))).lateness).toBeGreaterThan(29_000_000);
			});

			test('includes a post that is applied again, also in a process with a copy: perhaps it is published only now', async () => {
				const { process } = await world();
				const [one, other] = [await process(), await process()];
				await one.apply(created(CHANNEL, ['U01', 'U02'], seconds(0)));
				const post = posted(CHANNEL, message('C01', seconds(0)));
				await one.apply(post);
				await Bun.sleep(1_200);
				const since = seconds(0);
				for (const each of [one, other])
					expect(await changesIn(each, since)).toMatchObject({ conversations: [], lateness: 0 });
				await one.readState.apply([post], asIs);
				for (const each of [one, other]) {
					const { conversations, lateness } = await changesIn(each, since);
					expect(conversations).toEqual(['C01']);
					expect(lateness).toBeGreaterThan(1_000_000);
				}
			});
		});

		test('expired state is loaded from the store again', async () => {
			const { process } = await world();
			const { readState, apply, commands, keys } = await process({ ttlSeconds: 1 });
			await apply(created(CHANNEL, ['U01', 'U02']), ...posts(1, 6));
			const change = (await readState.mark(
				'U02',
				'C01',
				{ type: 'read', ts: BEGIN + 2 },
				publish,
			)) as RowChange;
			await change.durable;
			await eventually(async () => {
				expect(await commands.exists(keys.meta('C01'))).toBe(0);
				expect(await commands.exists(keys.fields('U02'))).toBe(0);
			});
			expect(await readState.row('U02', 'C01')).toMatchObject({ unread: 3, lastRead: BEGIN + 2 });
		});
	});
}
