import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { PostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { onPostgres, POSTGRES_VARIABLE, postgresPlace, setReadOnly } from '../support/postgres.ts';
import { type OwnServices, ownServices } from '../support/services.ts';
import { BEGIN, conversation, created, message, posted } from '../support/store/facts.ts';

/** The answer to a commit is lost, and PostgreSQL crashes or rejects writes: the store learns whether it was committed. */

const channel = conversation('C01');
const say = (step: number) => posted(channel, message('C01', BEGIN + step));
let services: OwnServices;
let url: string;
let place: Awaited<ReturnType<typeof postgresPlace>>;
let proxy: CuttingProxy;
let store: PostgresStore;
let troubles: string[];

/** Without these settings, PostgreSQL may flush the WAL of a transaction before its commit. */
const FLUSH_ONLY_COMMITS = {
	wal_writer_delay: `'10s'`,
	autovacuum: 'off',
	bgwriter_lru_maxpages: '0',
	wal_level: 'minimal',
	max_wal_senders: '0',
};

const transactionId = `SELECT pg_current_xact_id()::text AS id`;
const runningId = `SELECT backend_xid::text AS id FROM pg_stat_activity
	WHERE application_name = 'tidemark' AND backend_xid IS NOT NULL`;
const idFrom = async (query: string): Promise<number> =>
	Number((await onPostgres<{ id: string }>(query, url))[0]?.id);

const said = async (): Promise<number[]> => {
	const range = { after: 0, before: Number.POSITIVE_INFINITY, limit: 1000, nearest: 'oldest' } as const;
	return (await store.history.timeline('C01', range)).map(({ ts }) => ts - BEGIN);
};

const troublesAre = (count: number) => eventually(async () => expect(troubles).toHaveLength(count));

const crash = async (): Promise<void> => {
	await services.stop('postgres', 'crash');
	await troublesAre(1);
	await services.start('postgres');
};

beforeAll(async () => {
	services = await ownServices('postgres');
	url = services.env[POSTGRES_VARIABLE] as string;
	for (const [name, value] of Object.entries(FLUSH_ONLY_COMMITS))
		await onPostgres(`ALTER SYSTEM SET ${name} = ${value}`, url);
	await services.stop('postgres');
	await services.start('postgres');
}, 300_000);
afterAll(() => services.down());

beforeEach(async () => {
	const { hostname, port } = new URL(url);
	proxy = await cuttingProxy(hostname, Number(port));
	place = await postgresPlace({ url });
	const through = new URL(url);
	through.port = String(proxy.port);
	troubles = [];
	store = await place.open({
		url: through.href,
		// The store asks for the outcome only when the test wakes it.
		backOffMs: [600_000],
		onTrouble: (_, { message }) => troubles.push(message),
	});
	await store.ledger.commit([created(channel, ['U01']), say(1)]);
});
afterEach(async () => {
	await store.close();
	await place.remove();
	proxy.stop();
});

test('a commit that the crash lost is repeated, even if a later transaction got the same id', async () => {
	proxy.cutNext('COMMIT', 'silence');
	const committed = store.ledger.commit([say(2)]);
	await eventually(async () => expect(proxy.cuts).toBe(1));
	const lost = await idFrom(runningId);
	await crash();
	let newest = await idFrom(transactionId);
	expect(newest).toBeLessThanOrEqual(lost);
	while (newest < lost) newest = await idFrom(transactionId);
	store.retryNow();
	await committed;
	expect(await said()).toEqual([1, 2]);
}, 60_000);

test('a commit that survived the crash is not repeated', async () => {
	proxy.cutNext('COMMIT', 'after');
	const committed = store.ledger.commit([say(2)]);
	await eventually(async () => expect(proxy.cuts).toBe(1));
	await crash();
	store.retryNow();
	// PostgreSQL would reject a second one.
	await committed;
	expect(await said()).toEqual([1, 2]);
}, 60_000);

test('a server that rejects writes cannot tell the outcome: the store asks again', async () => {
	proxy.cutNext('COMMIT', 'after');
	const committed = store.ledger.commit([say(2)]);
	await troublesAre(1);
	await setReadOnly(url, true);
	store.retryNow();
	await troublesAre(2);
	await setReadOnly(url, false);
	expect(troubles[1]).toContain('make it writable');
	store.retryNow();
	await committed;
	expect(await said()).toEqual([1, 2]);
}, 60_000);
