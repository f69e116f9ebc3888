import type { Database } from 'bun:sqlite';
import { toSqlite } from '../../store/dialect.ts';
import { advanceTo } from '../../store/ledger.ts';
import {
	APPLIED_MIGRATIONS,
	CREATE_MIGRATIONS_TABLE,
	pendingMigrations,
	RECORD_MIGRATION,
} from '../../store/migrations.ts';
import { NEWEST_STAMP, RECORD_START } from '../../store/store.ts';

/** Prepares the database at start: runs migrations and records the start. */

export function migrate(database: Database, nowMicros: number): void {
	database.run(CREATE_MIGRATIONS_TABLE);
	const applied = database.query<{ name: string }, []>(APPLIED_MIGRATIONS).all();
	for (const { name, statements, sqlite = [] } of pendingMigrations(applied.map((row) => row.name))) {
		database
			.transaction(() => {
				for (const sql of [...statements, ...sqlite]) database.run(toSqlite(sql));
				database.run(toSqlite(RECORD_MIGRATION), [name, nowMicros]);
			})
			.immediate();
	}
}

/** Returns the newest stamp, which is that of the start. */
export function recordStart(database: Database, stampAfter: (newest: number) => number): number {
	const record = database.transaction(() => {
		const newest = database.query<{ newest_stamp: number }, []>(NEWEST_STAMP).get()?.newest_stamp ?? 0;
		const stamp = stampAfter(newest);
		database.run(toSqlite(RECORD_START), [stamp]);
		const { write, params } = advanceTo(stamp);
		database.run(toSqlite(write.text), [...params]);
		return Math.max(stamp, newest);
	});
	return record.immediate();
}

/**
 * Writes a random number for this start into the header of the file, where `FileGuard` checks it: a copy from another time has
 * a different number.
 */
export function writeStartNumber(database: Database): number {
	const random = crypto.getRandomValues(new Uint32Array(1))[0] as number;
	const signed = random | 0;
	database.run(`PRAGMA user_version = ${signed}`);
	database.run('PRAGMA wal_checkpoint(TRUNCATE)');
	return signed;
}
