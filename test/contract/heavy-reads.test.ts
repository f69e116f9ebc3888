import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE, openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { SqliteReader } from '../../src/engine/embedded/sqlite/reader.ts';
import type { Store, ThreadInfo } from '../../src/engine/ports/store.ts';
import { historyOn } from '../../src/engine/store/history.ts';
import { sourceOn } from '../../src/engine/store/source.ts';
import { ROWS_PER_STEP, type SqlReader } from '../../src/engine/store/sql.ts';
import { BEGIN, conversation, created, deleted, edited, message, posted } from '../support/store/facts.ts';
import { TurnMeter } from '../support/turn-meter.ts';

/** Reads that grow with the history are done in steps, and a large thread is summarised once. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

const CHANNEL = conversation('C01');
const ROOT = BEGIN + 1;
const REPLIES = 3_500;
/** The rows of one step, and the few around it. */
const LARGEST_TURN = ROWS_PER_STEP + 20;

const reply = (step: number) =>
	message('C01', ROOT + step, { threadTs: ROOT, user: `U${step % 2_000}`, clientMsgId: `m${step}` });

/** A second reader of the store, which counts the rows that each turn reads. */
async function metered(): Promise<{ store: Store; reader: SqlReader; meter: TurnMeter }> {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-heavy-'));
	closing.push(() => rm(directory, { recursive: true }));
	const store = await openSqliteStore(directory);
	closing.push(() => store.close());
	await store.ledger.commit([
		created(CHANNEL, ['U01']),
		posted(CHANNEL, message('C01', ROOT)),
		...Array.from({ length: REPLIES }, (_, index) => posted(CHANNEL, reply(index + 1))),
	]);
	const database = new Database(join(directory, DATABASE_FILE), { readonly: true });
	const plain = new SqliteReader(database);
	closing.push(() => {
		plain.close();
		database.close();
	});
	const meter = new TurnMeter();
	closing.push(() => meter.stop());
	const all = async <T>(...[sql, params]: Parameters<SqlReader['all']>): Promise<T[]> => {
		const rows = await plain.all<T>(sql, params);
		meter.add(rows.length);
		return rows;
	};
	return { store, reader: { all, together: (q) => plain.together(q), pause: () => plain.pause() }, meter };
}

const shownOf = (info: ThreadInfo | undefined) =>
	info && [info.replyCount, info.latestReply - ROOT, info.replyUsersCount];

test('a large thread is summarised in steps once; later reads only add newer replies', async () => {
	const { store, reader, meter } = await metered();
	const { threads } = historyOn(reader);
	const summary = async () => (await threads('C01', [ROOT]))[0];
	// Many requests at once, as when many sockets open the same thread.
	const asked = await Promise.all(Array.from({ length: 8 }, summary));
	for (const info of asked) expect(shownOf(info)).toEqual([REPLIES, REPLIES, 2_000]);
	expect(asked[0]?.replyUsers).toEqual(['U1', 'U2', 'U3', 'U4', 'U5']);
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
	expect(meter.total).toBeLessThan(REPLIES + 100);

	meter.reset();
	await store.ledger.commit([posted(CHANNEL, reply(REPLIES + 1))]);
	expect(shownOf(await summary())).toEqual([REPLIES + 1, REPLIES + 1, 2_000]);
	expect(meter.total).toBeLessThan(20);
});

/** Runs `work` once: after the first read of this kind that returns less than a full step, before it returns its rows. */
const meanwhile = (reader: SqlReader, kind: string, work: () => Promise<unknown>): SqlReader => {
	let isDone = false;
	const all = async <T>(...[sql, params]: Parameters<SqlReader['all']>): Promise<T[]> => {
		const rows = await reader.all<T>(sql, params);
		if (!isDone && sql.includes(kind) && rows.length < ROWS_PER_STEP) {
			isDone = true;
			await work();
		}
		return rows;
	};
	return { all, together: (q) => reader.together(q), pause: () => reader.pause() };
};

test('a reader who asks while a large thread is being summarised gets every earlier reply', async () => {
	const { store, reader } = await metered();
	let later: Promise<readonly ThreadInfo[]> | undefined;
	const { threads } = historyOn(
		meanwhile(reader, 'SELECT ts, user_id FROM messages', async () => {
			await store.ledger.commit([posted(CHANNEL, reply(REPLIES + 1))]);
			later = threads('C01', [ROOT]);
			// Until the request waits for the running summary.
			await Bun.sleep(20);
		}),
	);
	expect(shownOf((await threads('C01', [ROOT]))[0])).toEqual([REPLIES, REPLIES, 2_000]);
	expect(shownOf((await later)?.[0])).toEqual([REPLIES + 1, REPLIES + 1, 2_000]);
});

test('a page that is cut by size is full, even if its messages become shorter while it is read', async () => {
	const { store, reader } = await metered();
	const long = Array.from({ length: 30 }, (_, index) =>
		message('C02', BEGIN + 1 + index, { user: 'U01', text: 'x'.repeat(1_000) }),
	);
	const other = conversation('C02');
	await store.ledger.commit([created(other, ['U01']), ...long.map((one) => posted(other, one))]);
	let stamp = BEGIN + 1_000;
	const shorten = (some: typeof long) => () => {
		stamp += some.length;
		return store.ledger.commit(some.map((one, index) => edited(other, one, stamp + index, 'x')));
	};
	const mostBytes = 5_000;
	const range = { after: 0, before: Number.POSITIVE_INFINITY, limit: 30, mostBytes };
	const steps = (found: readonly { ts: number }[]) => found.map(({ ts }) => ts - BEGIN);
	const from = (first: number, last: number) =>
		Array.from({ length: last - first + 1 }, (_, index) => first + index);
	const newest = historyOn(meanwhile(reader, 'AS bytes', shorten(long.slice(28))));
	expect(steps(await newest.timeline('C02', { ...range, nearest: 'newest' }))).toEqual(from(24, 30));
	const oldest = historyOn(meanwhile(reader, 'AS bytes', shorten(long.slice(0, 2))));
	expect(steps(await oldest.timeline('C02', { ...range, nearest: 'oldest' }))).toEqual(from(1, 7));
	const all = long.map(({ ts }) => ts);
	const chosen = historyOn(meanwhile(reader, 'AS bytes', shorten(long.slice(2, 3))));
	expect(steps(await chosen.messages('C02', all, { nearest: 'oldest', mostBytes }))).toEqual(from(1, 8));
	const backward = historyOn(meanwhile(reader, 'AS bytes', shorten(long.slice(27, 28))));
	expect(steps(await backward.messages('C02', all, { nearest: 'newest', mostBytes }))).toEqual(from(23, 30));
});

test('a page has every message from before the read, even if others are posted or deleted meanwhile', async () => {
	const { store, reader } = await metered();
	const other = conversation('C02');
	const at = (step: number) => message('C02', BEGIN + step, { user: 'U01' });
	const said = Array.from({ length: 12 }, (_, index) => at(1 + index));
	await store.ledger.commit([created(other, ['U01']), ...said.map((one) => posted(other, one))]);
	const range = { after: 0, before: Number.POSITIVE_INFINITY, mostBytes: 100_000 };
	const steps = (found: readonly { ts: number }[]) => found.map(({ ts }) => ts - BEGIN);
	const posting = historyOn(
		meanwhile(reader, 'AS bytes', () => store.ledger.commit([13, 14].map((step) => posted(other, at(step))))),
	);
	expect(steps(await posting.timeline('C02', { ...range, limit: 50, nearest: 'newest' }))).toEqual(
		said.map(({ ts }) => ts - BEGIN),
	);
	// The page has the requested length, which tells callers that there is more.
	const deleting = historyOn(
		meanwhile(reader, 'AS bytes', () => store.ledger.commit([deleted(other, at(14), BEGIN + 20)])),
	);
	const six = { ...range, limit: 6, nearest: 'newest' } as const;
	expect(steps(await deleting.timeline('C02', six))).toEqual([8, 9, 10, 11, 12, 13]);
});

test('a deleted reply disappears from the summary of a large thread, whichever process deleted it', async () => {
	const { store, reader } = await metered();
	const { threads } = historyOn(reader);
	const other = store.history.threads;
	const summaries = async () =>
		(await Promise.all([threads('C01', [ROOT]), other('C01', [ROOT])])).map(([info]) => shownOf(info));
	expect(await summaries()).toEqual(Array(2).fill([REPLIES, REPLIES, 2_000]));
	const at = (step: number) => ROOT + REPLIES + 100 + step;
	await store.ledger.commit([deleted(CHANNEL, reply(REPLIES), at(1))]);
	expect(await summaries()).toEqual(Array(2).fill([REPLIES - 1, REPLIES - 1, 2_000]));
	// U1 to U5 wrote the first replies; U1999 wrote one, most others two.
	await store.ledger.commit([deleted(CHANNEL, reply(1_999), at(2)), deleted(CHANNEL, reply(7), at(3))]);
	expect(await summaries()).toEqual(Array(2).fill([REPLIES - 3, REPLIES - 1, 1_999]));
});

test('the replies that a decision needs, and the sends of a day, are read in steps', async () => {
	const { reader, meter } = await metered();
	const source = sourceOn(reader);
	expect(await source.threadReplies('C01', ROOT)).toHaveLength(REPLIES);
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
	meter.reset();
	const sends = await source.recentSends('C01', BEGIN, 3_000);
	expect(sends.map(({ clientMsgId }) => clientMsgId)).toEqual(
		Array.from({ length: 3_000 }, (_, index) => `m${REPLIES - 2_999 + index}`),
	);
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
});

test('the sends of a day are read from an index, not by scanning the day', async () => {
	const { reader } = await metered();
	const plan = await reader.all<{ detail: string }>(
		`EXPLAIN QUERY PLAN SELECT user_id, client_msg_id, ts FROM messages
			WHERE conversation = $1 AND ts > $2 AND ts < $4 AND client_msg_id IS NOT NULL ORDER BY ts DESC LIMIT $3`,
		['C01', 0, 10, Number.MAX_SAFE_INTEGER],
	);
	expect(plan.map(({ detail }) => detail).join()).toContain('COVERING INDEX messages_by_send_ts');
});

test('messages that mention a user are read in steps, newest first', async () => {
	const { store, reader, meter } = await metered();
	const naming = (step: number) =>
		message('C01', ROOT + 10_000 + step, { named: ['U02'], channelWide: step % 2_000 === 0 });
	await store.ledger.commit([
		...Array.from({ length: REPLIES }, (_, index) => posted(CHANNEL, naming(index + 1))),
		deleted(CHANNEL, naming(REPLIES), ROOT + 20_000),
	]);
	const { mentioningEntries } = sourceOn(reader);
	const found: number[] = [];
	meter.reset();
	for (let upTo: number | null = Number.MAX_SAFE_INTEGER; upTo !== null; ) {
		const { entries, next } = await mentioningEntries('C01', ROOT + 10_000, upTo, 1_000);
		found.unshift(...entries.map(({ ts }) => ts - ROOT - 10_000));
		upTo = next;
		await Bun.sleep(0);
	}
	expect(found).toEqual(Array.from({ length: REPLIES - 1 }, (_, index) => index + 1));
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
});
