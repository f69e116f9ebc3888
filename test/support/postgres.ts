import { SQL } from 'bun';
import { openPostgresStore, type PostgresStoreOptions } from '../../src/engine/cluster/postgres/open.ts';
import { eventually } from './eventually.ts';

/** The PostgreSQL that tests run on. Without one they fail: an untested engine must not look tested. */

export const POSTGRES_VARIABLE = 'TIDEMARK_TEST_POSTGRES_URL';

const HOW = 'Start one with scripts/services up postgres, or run the tests with npm test, which does.';

export function postgresUrl(): string {
	const url = process.env[POSTGRES_VARIABLE];
	if (!url) throw new Error(`${POSTGRES_VARIABLE} is not set: there is no PostgreSQL to test on. ${HOW}`);
	return url;
}

/** Runs statements on PostgreSQL. If it is unreachable, the error says how to start it. */
export async function onPostgres<T = unknown>(statement: string, url = postgresUrl()): Promise<T[]> {
	const sql = new SQL(url, { max: 1, connectionTimeout: 5 });
	try {
		return [...(await sql.unsafe<T[]>(statement))];
	} catch (error) {
		if (error instanceof SQL.PostgresError && error.errno !== undefined) throw error;
		throw new Error(`${POSTGRES_VARIABLE} names a PostgreSQL that is not reachable (${error}). ${HOW}`);
	} finally {
		await sql.close({ timeout: 0 });
	}
}

/** As after a failover, or on a full disk: every session rejects writes. */
export async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
	const sql = new SQL(url, { max: 1, connection: { default_transaction_read_only: 'off' } });
	await sql.unsafe(
		`ALTER SYSTEM ${isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only'}`,
	);
	await sql.unsafe('SELECT pg_reload_conf()');
	await sql.close({ timeout: 0 });
	// The server reads its settings a moment later, and applies them to all sessions before it accepts a new one.
	await eventually(async () => {
		const [session] = await onPostgres<{ isReadOnly: string }>(
			`SELECT current_setting('default_transaction_read_only') AS "isReadOnly"`,
			url,
		);
		if (session?.isReadOnly !== (isReadOnly ? 'on' : 'off'))
			throw new Error('the server has not read its settings yet');
	});
}

/** Ends all other sessions, in the middle of their work, and returns their number. */
export const dropConnections = async (url: string): Promise<number> =>
	(
		await onPostgres(
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
			url,
		)
	).length;

let places = 0;

/** A separate schema, empty at first. */
export async function postgresPlace(options: Partial<PostgresStoreOptions> = {}) {
	places += 1;
	const url = options.url ?? postgresUrl();
	const schema = `test_${process.pid}_${places}`;
	await onPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`, url);
	return {
		schema,
		url,
		open: (more: Partial<PostgresStoreOptions> = {}) =>
			openPostgresStore({ url, schema, reads: 2, writes: 2, ...options, ...more }),
		remove: async () => void (await onPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`, url)),
	};
}
