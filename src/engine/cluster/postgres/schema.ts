import type { SQL } from 'bun';
import { toPostgres, toPostgresSchema } from '../../store/dialect.ts';
import { advanceTo } from '../../store/ledger.ts';
import {
	APPLIED_MIGRATIONS,
	CREATE_MIGRATIONS_TABLE,
	pendingMigrations,
	RECORD_MIGRATION,
} from '../../store/migrations.ts';
import { NEWEST_STAMP, RECORD_START } from '../../store/store.ts';
import { PostgresUnusable } from './errors.ts';
import { toParam, withNumbers } from './values.ts';

/** Prepares the database at start. Any number of processes may start at once. */

/** Version 13 vacuums append-only tables. */
const OLDEST_VERSION = 130_000;
/** Held to the end of the transaction; one lock per schema. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('tidemark migrations of ' || $1, 0))`;
const SCHEMA_EXISTS = 'SELECT 1 FROM pg_namespace WHERE nspname = $1';
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export async function checkServer(sql: SQL): Promise<void> {
	const [server] = await sql.unsafe<{ version: string; encoding: string }[]>(
		`SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding`,
	);
	if (Number(server?.version) < OLDEST_VERSION)
		throw new PostgresUnusable('it is older than version 13, the oldest supported');
	if (server?.encoding !== 'UTF8')
		throw new PostgresUnusable(
			`the encoding of the database is ${server?.encoding}; create one with ENCODING 'UTF8'`,
		);
}

/** One transaction per migration: a process that waited for the lock finds them done. */
export async function migrate(sql: SQL, schema: string, nowMicros: number): Promise<void> {
	for (let done = false; !done; ) {
		done = await sql.begin(async (transaction) => {
			await transaction.unsafe(LOCK, [schema]);
			// Check first: the right to create schemas is only needed if the schema is missing.
			if ((await transaction.unsafe(SCHEMA_EXISTS, [schema])).length === 0)
				await transaction.unsafe(`CREATE SCHEMA ${quoted(schema)}`);
			await transaction.unsafe(toPostgresSchema(CREATE_MIGRATIONS_TABLE));
			const applied = await transaction.unsafe<{ name: string }[]>(APPLIED_MIGRATIONS);
			const [next, ...later] = pendingMigrations(applied.map(({ name }) => name));
			if (next === undefined) return true;
			const statements = [...next.statements.map(toPostgresSchema), ...(next.postgres ?? [])];
			for (const statement of statements) await transaction.unsafe(statement);
			await transaction.unsafe(RECORD_MIGRATION, [next.name, String(nowMicros)]);
			return later.length === 0;
		});
	}
}

export async function newestStamp(sql: SQL): Promise<number> {
	const rows = await sql.unsafe<{ newest_stamp: number }[]>(NEWEST_STAMP);
	return withNumbers([...rows])[0]?.newest_stamp ?? 0;
}

/** Resolves to the newest stamp, which is that of the start. */
export function recordStart(sql: SQL, stampAfter: (newest: number) => number): Promise<number> {
	return sql.begin(async (transaction) => {
		// Processes that start at once get different stamps.
		const rows = await transaction.unsafe<{ newest_stamp: number }[]>(`${NEWEST_STAMP} FOR UPDATE`);
		const newest = withNumbers(rows)[0]?.newest_stamp ?? 0;
		const stamp = stampAfter(newest);
		await transaction.unsafe(toPostgres(RECORD_START), [String(stamp)]);
		const { write, params } = advanceTo(stamp);
		await transaction.unsafe(toPostgres(write.text), params.map(toParam));
		return Math.max(stamp, newest);
	});
}
