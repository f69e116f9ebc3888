import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE, openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { SqliteReader } from '../../src/engine/embedded/sqlite/reader.ts';
import type { Store, ThreadInfo } from '../../src/engine/ports/store.ts';
import { historyOf } from '../../src/engine/store/history.ts';
import { sourceOf } from '../../src/engine/store/source.ts';
import { ROWS_A_STEP, type SqlReader } from '../../src/engine/store/sql.ts';
import { BEGIN, conversation, created, deleted, message, posted } from '../support/store/facts.ts';
import { TurnMeter } from '../support/turn-meter.ts';

/** What grows with history is read in steps, and a large thread is summed up once. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

const CHANNEL = conversation('C01');
const ROOT = BEGIN + 1;
const REPLIES = 3_500;
/** A step, and the few rows around it. */
const LARGEST_TURN = ROWS_A_STEP + 20;

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

test('a large thread is summed up in steps once; after that only what came since is read', async () => {
	const { store, reader, meter } = await metered();
	const { threads } = historyOf(reader);
	const summary = async () => (await threads('C01', [ROOT]))[0];
	// Many ask at once, as many as there are sockets that open the same thread.
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

test('a reply that is deleted is gone from the summary of a large thread, by whichever process', async () => {
	const { store, reader } = await metered();
	const { threads } = historyOf(reader);
	const other = store.history.threads;
	const summaries = async () =>
		(await Promise.all([threads('C01', [ROOT]), other('C01', [ROOT])])).map(([info]) => shownOf(info));
	expect(await summaries()).toEqual(Array(2).fill([REPLIES, REPLIES, 2_000]));
	const at = (step: number) => ROOT + REPLIES + 100 + step;
	await store.ledger.commit([deleted(CHANNEL, reply(REPLIES), at(1))]);
	expect(await summaries()).toEqual(Array(2).fill([REPLIES - 1, REPLIES - 1, 2_000]));
	// U1 to U5 wrote the first ones; of U1999 there is one, of most others two.
	await store.ledger.commit([deleted(CHANNEL, reply(1_999), at(2)), deleted(CHANNEL, reply(7), at(3))]);
	expect(await summaries()).toEqual(Array(2).fill([REPLIES - 3, REPLIES - 1, 1_999]));
});

test('the replies that a decision needs, and the sends of a day, are read in steps', async () => {
	const { reader, meter } = await metered();
	const source = sourceOf(reader);
	expect(await source.threadReplies('C01', ROOT)).toHaveLength(REPLIES);
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
	meter.reset();
	const sends = await source.recentSends('C01', BEGIN, 3_000);
	expect(sends.map(({ clientMsgId }) => clientMsgId)).toEqual(
		Array.from({ length: 3_000 }, (_, index) => `m${REPLIES - 2_999 + index}`),
	);
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
});

test('the sends of a day come from an index of sends, not from a walk over the day', async () => {
	const { reader } = await metered();
	const plan = await reader.all<{ detail: string }>(
		`EXPLAIN QUERY PLAN SELECT user_id, client_msg_id, ts FROM messages
			WHERE conversation = $1 AND ts > $2 AND ts < $4 AND client_msg_id IS NOT NULL ORDER BY ts DESC LIMIT $3`,
		['C01', 0, 10, Number.MAX_SAFE_INTEGER],
	);
	expect(plan.map(({ detail }) => detail).join()).toContain('COVERING INDEX messages_by_send_ts');
});
