import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { CommitRows } from '../../src/engine/cluster/postgres/commit-rows.ts';
import { Fenced, type PostgresStore, PostgresUnusable } from '../../src/engine/cluster/postgres/open.ts';
import { Pool } from '../../src/engine/cluster/postgres/pool.ts';
import { Retry } from '../../src/engine/cluster/postgres/retry.ts';
import { runTransaction } from '../../src/engine/cluster/postgres/transaction.ts';
import { SchemaTooNew } from '../../src/engine/store/migrations.ts';
import { Rejection } from '../../src/model/errors.ts';
import { type Cut, type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { onPostgres, postgresPlace } from '../support/postgres.ts';
import { BEGIN, conversation, created, joined, left, message, posted } from '../support/store/facts.ts';

/** Specific to the PostgreSQL store: concurrent migrations, offsets, and connections that are cut. */

let place: Awaited<ReturnType<typeof postgresPlace>>;
const opened: PostgresStore[] = [];
const channel = conversation('C01');
const say = (step: number) => posted(channel, message('C01', BEGIN + step));

async function open(options: Parameters<typeof place.open>[0] = {}): Promise<PostgresStore> {
	const store = await place.open(options);
	opened.push(store);
	return store;
}

function urlWith(change: { readonly port?: string; readonly password?: string }): string {
	const url = new URL(place.url);
	url.port = change.port ?? url.port;
	url.password = change.password ?? url.password;
	return url.href;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
	promise.then(
		() => 'no failure',
		(error: unknown) => error,
	);

const said = async (store: PostgresStore): Promise<number[]> => {
	const range = { after: 0, before: Number.POSITIVE_INFINITY, limit: 1000, nearest: 'oldest' } as const;
	return (await store.history.timeline('C01', range)).map(({ ts }) => ts - BEGIN);
};

beforeEach(async () => {
	place = await postgresPlace();
});
afterEach(async () => {
	await Promise.all(opened.splice(0).map((store) => store.close()));
	await place.remove();
});

describe('opening', () => {
	test('several processes open an empty database at once: each finds the schema, and each start has its own stamp', async () => {
		const stores = await Promise.all(
			Array.from({ length: 4 }, () => open({ startStamp: (newest) => newest + 1 })),
		);
		expect(await stores[0]?.source.starts()).toEqual([1, 2, 3, 4]);
	});

	test('a database of a newer version is rejected', async () => {
		await open();
		await onPostgres(`INSERT INTO ${place.schema}.schema_migrations VALUES ('9999-future', 0)`);
		expect(await failureOf(open())).toBeInstanceOf(SchemaTooNew);
	});

	test('a missing server and a wrong password are reported without the password', async () => {
		for (const change of [{ port: '9' }, { password: 'wrong-secret' }]) {
			const failure = await failureOf(open({ url: urlWith(change) }));
			expect(failure).toBeInstanceOf(PostgresUnusable);
			expect(String(failure)).not.toContain('secret');
		}
	});

	test('rows about the commits of processes that ended long ago are removed', async () => {
		await open();
		const insert = (days: number) => `INSERT INTO ${place.schema}.commit_rows
			VALUES ('process of ${days} days ago/0', 1, now() - interval '${days} days')`;
		await onPostgres(`${insert(29)}; ${insert(31)}`);
		await open();
		const left = await onPostgres(`SELECT id FROM ${place.schema}.commit_rows`);
		expect(left).toEqual([{ id: 'process of 29 days ago/0' }]);
	});

	test('texts are sorted by their bytes, whatever the collation of the database', async () => {
		await open();
		const others = await onPostgres(`SELECT table_name, column_name FROM information_schema.columns
			WHERE table_schema = '${place.schema}' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`);
		expect(others).toEqual([]);
	});
});

describe('a commit that PostgreSQL rejects', () => {
	test('fails at once together with everything after it, and leaves no trace; later commits succeed', async () => {
		const failures: string[] = [];
		const troubles: number[] = [];
		const { ledger, ...store } = await open({
			onCommitFailure: (error) => failures.push(error.message),
			onTrouble: (count) => troubles.push(count),
		});
		await ledger.commit([created(channel, ['U01']), say(1)]);
		const doomed = [ledger.commit([say(2), say(1)]), ledger.flushed()];
		await Promise.resolve();
		doomed.push(ledger.commit([say(3)]));
		for (const failure of await Promise.all(doomed.map(failureOf))) {
			expect(failure).toBeInstanceOf(Rejection);
			expect(failure).toMatchObject({ code: 'service_unavailable' });
		}
		expect(failures).toHaveLength(1);
		expect(troubles).toEqual([]);
		await ledger.commit([say(4)]);
		expect(
			(
				await store.history.messages(
					'C01',
					[1, 2, 3, 4].map((step) => BEGIN + step),
				)
			).length,
		).toBe(2);
	});
});

describe('facts with the offset of the log', () => {
	const partition = 'conversations/3';

	test('facts and offset are written in one transaction, and the offset is where to resume', async () => {
		const store = await open();
		expect(await store.nextOffset(partition)).toBe(0);
		await store.commitWithProgress([created(channel, ['U01']), say(1)], { partition, from: 0, to: 7 });
		await store.commitWithProgress([say(2)], { partition, from: 7, to: 8 });
		expect(await store.nextOffset(partition)).toBe(8);
		expect(await store.nextOffset('conversations/4')).toBe(0);
		expect(await said(store)).toEqual([1, 2]);
		expect(await store.newestStamp()).toBeGreaterThanOrEqual(BEGIN + 2);
	});

	test('a span without facts moves the offset too', async () => {
		const store = await open();
		await store.commitWithProgress([], { partition, from: 0, to: 5 });
		expect(await store.nextOffset(partition)).toBe(5);
	});

	test('a worker that lost the partition is fenced, and writes nothing', async () => {
		const [former, present] = [await open(), await open()];
		await former.commitWithProgress([created(channel, ['U01']), say(1)], { partition, from: 0, to: 2 });
		await present.commitWithProgress([say(2)], { partition, from: 2, to: 3 });
		for (const range of [
			{ partition, from: 2, to: 4 },
			{ partition, from: 0, to: 4 },
			{ partition: 'conversations/9', from: 4, to: 5 },
		]) {
			const failure = await failureOf(former.commitWithProgress([say(9)], range));
			expect(failure).toBeInstanceOf(Fenced);
		}
		expect(await said(present)).toEqual([1, 2]);
		expect(await present.nextOffset(partition)).toBe(3);
		expect(await present.nextOffset('conversations/9')).toBe(0);
	});

	test('if two workers write the same range at once, one succeeds', async () => {
		const stores = [await open(), await open()];
		await stores[0]?.commitWithProgress([created(channel, ['U01'])], { partition, from: 0, to: 1 });
		const outcomes = await Promise.all(
			stores.map((store, index) =>
				failureOf(store.commitWithProgress([say(index + 1)], { partition, from: 1, to: 2 })),
			),
		);
		expect(outcomes.filter((outcome) => outcome === 'no failure')).toHaveLength(1);
		expect(outcomes.filter((outcome) => outcome instanceof Fenced)).toHaveLength(1);
	});

	test('commits that are queued without waiting run in order', async () => {
		const store = await open();
		const commits = [store.commitWithProgress([created(channel, ['U01'])], { partition, from: 0, to: 1 })];
		for (let step = 1; step < 30; step += 1)
			commits.push(store.commitWithProgress([say(step)], { partition, from: step, to: step + 1 }));
		await Promise.all(commits);
		expect(await store.nextOffset(partition)).toBe(30);
		expect(await said(store)).toHaveLength(29);
	});
});

describe('a connection that is cut during the commit', () => {
	const MOMENTS: Record<Exclude<Cut, 'late'>, string> = {
		before: 'before the server gets the commit',
		after: 'after the server got the commit',
		silence: 'by a server that falls silent',
	};
	let proxy: CuttingProxy;
	beforeEach(async () => {
		const { hostname, port } = new URL(place.url);
		proxy = await cuttingProxy(hostname, Number(port));
	});
	afterEach(() => proxy.stop());
	const through = () => urlWith({ port: String(proxy.port) });

	for (const when of ['before', 'after', 'silence'] as const) {
		test(`${MOMENTS[when]}: facts are written once, and the caller sees no error`, async () => {
			const events: string[] = [];
			const store = await open({
				url: through(),
				backOffMs: [50],
				answerWithinMs: 1500,
				onTrouble: (failures) => events.push(`trouble ${failures}`),
				onRecovered: () => events.push('recovered'),
			});
			await store.ledger.commit([created(channel, ['U01', 'U02']), left(channel, 'U02', BEGIN + 1, 1)]);
			proxy.cutNext('COMMIT', when);
			// Not idempotent: a second commit would raise the revision.
			await store.ledger.commit([joined(channel, ['U02'], BEGIN + 2, BEGIN), say(3)]);
			expect(proxy.cuts).toBe(1);
			expect(events).toEqual(['trouble 1', 'recovered']);
			expect(await said(store)).toEqual([3]);
			expect((await store.source.user('U02')).memberships[0]).toMatchObject({ member: true, revision: 1 });
		});

		test(`${MOMENTS[when]}: the offset moves once, and the worker is not fenced`, async () => {
			const store = await open({ url: through(), backOffMs: [50], answerWithinMs: 1500 });
			const partition = 'conversations/0';
			await store.commitWithProgress([created(channel, ['U01'])], { partition, from: 0, to: 1 });
			proxy.cutNext('COMMIT', when);
			await store.commitWithProgress([say(1)], { partition, from: 1, to: 2 });
			await store.commitWithProgress([say(2)], { partition, from: 2, to: 3 });
			expect(proxy.cuts).toBe(1);
			expect(await said(store)).toEqual([1, 2]);
		});
	}

	for (const [row, commits] of [
		['a new row', 1],
		['an existing row', 16],
	] as const)
		test(`the server gets the commit while the store asks for its outcome: the store waits for the commit (${row})`, async () => {
			const store = await open({ url: through(), backOffMs: [50] });
			for (let step = 1; step <= commits; step += 1)
				await store.ledger.commit(step === 1 ? [created(channel, ['U01']), say(1)] : [say(step)]);
			proxy.cutNext('COMMIT', 'late');
			const committed = store.ledger.commit([say(99)]);
			const waiting = `SELECT 1 FROM pg_stat_activity JOIN pg_locks USING (pid)
				WHERE wait_event_type = 'Lock' AND relation = '${place.schema}.commit_rows'::regclass`;
			await eventually(async () => expect(await onPostgres(waiting)).toHaveLength(1));
			proxy.deliver();
			// A second commit would be rejected.
			await committed;
			expect((await said(store)).at(-1)).toBe(99);
		});

	test('the query for the outcome fails too, after the time limit of the request: the store keeps asking', async () => {
		await open();
		const sql = new SQL(through(), { connection: { search_path: place.schema } });
		const pool = new Pool(() => sql, 10_000);
		const failures: string[] = [];
		const onTrouble = (_: number, error: Error): void => {
			failures.push(error.name);
			if (failures.length === 1) proxy.cutNext('RETURNING token', 'before');
		};
		const retry = new Retry({ onTrouble }, [50], 1);
		// A second commit would be rejected.
		const insert = `INSERT INTO schema_migrations VALUES ('0000-once', 0)`;
		proxy.cutNext('COMMIT', 'after');
		const commitRows = new CommitRows(crypto.randomUUID());
		await runTransaction({ pool, retry, commitRows }, [{ sql: insert, params: [] }]);
		expect(proxy.cuts).toBe(2);
		expect(failures).toEqual(['OutcomeUnknown', 'OutcomeUnknown']);
		await pool.close();
	});

	test('an unanswered read is sent again', async () => {
		const store = await open({ url: through(), answerWithinMs: 1500 });
		await store.ledger.commit([created(channel, ['U01'])]);
		proxy.cutNext('FROM conversations', 'silence');
		expect(await store.source.head('C01')).not.toBeNull();
		expect(proxy.cuts).toBe(1);
	});

	test('a store that closes while the database is unavailable gives up unwritten facts', async () => {
		const store = await open({ url: through(), closeWithinMs: 100, backOffMs: [10_000] });
		await store.ledger.commit([created(channel, ['U01'])]);
		proxy.stop();
		const lost = failureOf(store.ledger.commit([say(1)]));
		await Bun.sleep(50);
		await store.close();
		expect(await lost).toBeInstanceOf(Rejection);
	});
});
