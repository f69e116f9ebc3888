import { constants, Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { APPLIED_MIGRATIONS, pendingMigrations } from '../../store/migrations.ts';
import { NEWEST_STAMP } from '../../store/store.ts';
import { LOCK_FILE } from './directory-lock.ts';
import { codeOf } from './errors.ts';
import { holderOf } from './lock-holder.ts';
import { DATABASE_FILE } from './open.ts';

/** A look at a data directory from outside: nothing in it is changed, and a server that uses it goes on. */

export interface Inspected {
	/** A process has it. */
	readonly inUse: boolean;
	/** Its id, where the system says. */
	readonly usedBy: number | null;
	/** Null: there is no database yet. */
	readonly database: DatabaseState | null;
}

export interface DatabaseState {
	/** Empty: it is sound. */
	readonly damage: readonly string[];
	/** Migrations that the next start carries out. */
	readonly pending: number;
	/** Micros. */
	readonly newestStamp: number;
	/** With what is committed and still beside it, in `-wal`. */
	readonly bytes: number;
}

/** Throws where it cannot be read, and SchemaTooNew where a newer version wrote it. */
export function inspectDirectory(directory: string): Inspected {
	const lock = join(directory, LOCK_FILE);
	const inUse = existsSync(lock) && isLocked(lock);
	const path = join(directory, DATABASE_FILE);
	return {
		inUse,
		usedBy: inUse ? holderOf(lock) : null,
		database: existsSync(path) ? inspectDatabase(path, inUse) : null,
	};
}

/** Whoever has the lock lets nobody read. */
function isLocked(lock: string): boolean {
	const database = new Database(lock, { readonly: true });
	try {
		database.query('SELECT count(*) FROM sqlite_master').get();
		return false;
	} catch (error) {
		if (codeOf(error) === 'SQLITE_BUSY') return true;
		throw error;
	} finally {
		database.close();
	}
}

function inspectDatabase(path: string, inUse: boolean): DatabaseState {
	const database = openUnchanged(path, inUse);
	try {
		const problems = database.query<{ quick_check: string }, []>('PRAGMA quick_check(5)').all();
		const damage = problems.map(({ quick_check }) => quick_check).filter((text) => text !== 'ok');
		const applied = damage.length > 0 ? [] : database.query<{ name: string }, []>(APPLIED_MIGRATIONS).all();
		return {
			damage,
			pending: damage.length > 0 ? 0 : pendingMigrations(applied.map(({ name }) => name)).length,
			newestStamp: damage.length > 0 ? 0 : newestStamp(database),
			bytes: sizeOf(path) + sizeOf(walOf(path)),
		};
	} finally {
		database.close();
	}
}

const newestStamp = (database: Database): number =>
	database.query<{ newest_stamp: number }, []>(NEWEST_STAMP).get()?.newest_stamp ?? 0;

/**
 * A database that nobody uses and that was closed well is all in one file, and read as what cannot change: SQLite
 * would make files beside it otherwise.
 */
function openUnchanged(path: string, inUse: boolean): Database {
	const isWhole = !inUse && sizeOf(walOf(path)) === 0;
	if (!isWhole) return new Database(path, { readonly: true });
	const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
	return new Database(`${pathToFileURL(path).href}?immutable=1`, flags);
}

const walOf = (path: string): string => `${path}-wal`;
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
