import { constants, Database } from 'bun:sqlite';
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { APPLIED_MIGRATIONS, pendingMigrations } from '../../store/migrations.ts';
import { NEWEST_STAMP } from '../../store/store.ts';
import { LOCK_FILE } from './directory-lock.ts';
import { codeOf } from './errors.ts';
import { DATABASE_FILE } from './open.ts';

/** A look at a data directory from outside: nothing in it is changed, and a server that uses it goes on. */

export interface Inspected {
	/** A process has it. */
	readonly inUse: boolean;
	/** Its id, where the system tells. */
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

function holderOf(file: string): number | null {
	try {
		for (const process of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
			if (hasOpen(process, file)) return Number(process);
	} catch {
		// No /proc here: it stays unknown.
	}
	return null;
}

function hasOpen(process: string, file: string): boolean {
	try {
		const files = readdirSync(`/proc/${process}/fd`);
		return files.some((fd) => readlinkSync(`/proc/${process}/fd/${fd}`) === file);
	} catch {
		// It ended, or belongs to somebody else.
		return false;
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
			bytes: statSync(path).size,
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
	const wal = `${path}-wal`;
	const isWhole = !inUse && !(existsSync(wal) && statSync(wal).size > 0);
	if (!isWhole) return new Database(path, { readonly: true });
	const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
	return new Database(`${pathToFileURL(path).href}?immutable=1`, flags);
}
