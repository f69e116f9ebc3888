import { constants, Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { APPLIED_MIGRATIONS, pendingMigrations } from '../../store/migrations.ts';
import { NEWEST_STAMP } from '../../store/store.ts';
import { LOCK_FILE, lockHolder } from './directory-lock.ts';
import { codeOf } from './errors.ts';
import { DATABASE_FILE } from './open.ts';

/** Inspects a data directory from outside: it changes nothing, and does not disturb a running server. */

export interface Inspected {
	/** A process uses the directory. */
	readonly inUse: boolean;
	/** Id of that process, if the system reveals it. */
	readonly usedBy: number | null;
	/** Null: there is no database yet. */
	readonly database: DatabaseState | null;
}

export interface DatabaseState {
	/** Empty: none. */
	readonly damage: readonly string[];
	/** Migrations that the next start will run. */
	readonly pending: number;
	/** In microseconds. */
	readonly newestStamp: number;
	/** Including committed data that is still in `-wal`. */
	readonly bytes: number;
}

/** Throws if the database cannot be read; SchemaTooNew if a newer version wrote it. */
export function inspectDirectory(directory: string): Inspected {
	const lock = join(directory, LOCK_FILE);
	const inUse = existsSync(lock) && isLocked(lock);
	const path = join(directory, DATABASE_FILE);
	return {
		inUse,
		usedBy: inUse ? lockHolder(lock) : null,
		database: existsSync(path) ? inspectDatabase(path, inUse) : null,
	};
}

/** The process that holds the lock blocks all readers of the lock file. */
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
 * A database that is not in use and was closed properly is a single file. It is opened as immutable, because SQLite
 * would create files next to it otherwise.
 */
function openUnchanged(path: string, inUse: boolean): Database {
	const isWhole = !inUse && sizeOf(walOf(path)) === 0;
	if (!isWhole) return new Database(path, { readonly: true });
	const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
	return new Database(`${pathToFileURL(path).href}?immutable=1`, flags);
}

const walOf = (path: string): string => `${path}-wal`;
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
