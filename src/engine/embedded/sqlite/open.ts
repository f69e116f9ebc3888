import { Database } from 'bun:sqlite';
import { closeSync, openSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Store } from '../../ports/store.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import { SchemaTooNew } from '../../store/migrations.ts';
import { writeFactForPush } from '../../store/push-facts.ts';
import { storeOn } from '../../store/store.ts';
import { LOCK_FILE, lockDirectory } from './directory-lock.ts';
import { codeOf, DatabaseDamaged, DataDirectoryUnusable, messageOf } from './errors.ts';
import { makePrivately } from './private-file.ts';
import { notingWithDevices } from './push-noting.ts';
import { SqliteReader } from './reader.ts';
import { markStart, migrate, recordStart } from './schema.ts';
import { indexInBackground, indexingWords, sqliteSearch } from './search.ts';
import { SqliteWriter } from './writer.ts';

export { DatabaseDamaged, DataDirectoryInUse, DataDirectoryUnusable } from './errors.ts';

/**
 * The embedded engine's store: a directory with one SQLite database, read on this thread and written by
 * another one, used by this process alone.
 */

export const DATABASE_FILE = 'tidemark.db';

export interface SqliteStoreOptions {
	/** The stamp of this start, later than the newest one in the database. */
	readonly startStamp?: (newest: number) => number;
	/** A commit failed and nothing of it is on disk: what memory has taken in of it is wrong. */
	readonly onCommitFailure?: (error: Error) => void;
	/** Posts and marks are noted for pushing: always, or once there is a device to push to. */
	readonly push?: boolean | 'with devices';
	/** The files are no longer those that were opened (every change is refused from then on), or (null) they are again. */
	readonly onTrouble?: (error: Error | null) => void;
	/** How long what was deleted or replaced may stay in the write-ahead log. */
	readonly eraseWithinMs?: number;
	/** Largest size of the database in pages, for tests of a full disk. */
	readonly maxPages?: number;
}

const ERASE_WITHIN_MS = 30_000;
/** Never closed: to close them would write to files that are somebody else's. */
const abandoned = new Set<unknown>();

const nowMicros = (): number => Date.now() * 1000;
const defaultStart = (newest: number): number => Math.max(nowMicros(), newest + 1);

export async function openSqliteStore(dataDir: string, options: SqliteStoreOptions = {}): Promise<Store> {
	const directory = resolve(dataDir);
	const unlock = lockDirectory(directory);
	const path = join(directory, DATABASE_FILE);
	let database: Database | undefined;
	let descriptor: number | undefined;
	try {
		refuseEmpty(path);
		makePrivately(path);
		descriptor = openSync(path, 'r');
		database = new Database(path, { create: true, readwrite: true });
		prepare(database);
		migrate(database, nowMicros());
		const newest = recordStart(database, options.startStamp ?? defaultStart);
		const mark = markStart(database);
		// From here on, only the writing thread writes.
		database.run('PRAGMA query_only = ON');
		const reader = new SqliteReader(database);
		const ignore = () => undefined;
		const files = { descriptor, database: path, lock: join(directory, LOCK_FILE), mark };
		const writer = await SqliteWriter.open(
			{
				path,
				files,
				maxPages: options.maxPages ?? 0,
				eraseWithinMs: options.eraseWithinMs ?? ERASE_WITHIN_MS,
			},
			options.onTrouble ?? ignore,
		);
		const noting = options.push === 'with devices' ? await notingWithDevices(reader) : null;
		const commits = new GroupCommit(
			(batch) => writer.write(batch),
			options.onCommitFailure ?? ignore,
			newest,
			indexingWords(noting?.write ?? (options.push ? writeFactForPush : undefined)),
		);
		const stopIndexing = indexInBackground(reader.patient, commits);
		const opened = database;
		const guarded = descriptor;
		const close = async (): Promise<void> => {
			stopIndexing();
			await commits.close();
			if (writer.trouble !== null) {
				abandoned.add(opened);
				writer.abandon();
				unlock();
				return;
			}
			reader.close();
			opened.close();
			// Last of the two connections: it leaves everything in one file.
			await writer.close();
			closeSync(guarded);
			unlock();
		};
		let closing: Promise<void> | null = null;
		const closeOnce = (): Promise<void> => {
			closing ??= close();
			return closing;
		};
		// Whatever is written goes through these commits, in the order of stamps.
		const search = sqliteSearch(reader.patient);
		const store = storeOn(reader, commits, search, closeOnce, () => commits.durable());
		return noting ? { ...store, push: noting.watch(store.push) } : store;
	} catch (error) {
		database?.close();
		if (descriptor !== undefined) closeSync(descriptor);
		unlock();
		if (error instanceof DatabaseDamaged) throw error;
		throw error instanceof SchemaTooNew ? error : unusable(directory, error);
	}
}

function prepare(database: Database): void {
	for (const pragma of [
		'busy_timeout = 10000',
		'journal_mode = WAL',
		'synchronous = FULL',
		'cache_size = -32768',
		'temp_store = MEMORY',
		'secure_delete = ON',
	]) {
		database.run(`PRAGMA ${pragma}`);
	}
}

/** SQLite would take it for a new database, and everything would seem to be gone. */
function refuseEmpty(path: string): void {
	if (statSync(path, { throwIfNoEntry: false })?.size === 0)
		throw new DatabaseDamaged(path, undefined, 'has 0 bytes. To begin with an empty database, remove it');
}

function unusable(directory: string, error: unknown): Error {
	const damaged = ['SQLITE_NOTADB', 'SQLITE_CORRUPT'].some((code) => codeOf(error).startsWith(code));
	if (damaged) return new DatabaseDamaged(join(directory, DATABASE_FILE), error);
	return new DataDirectoryUnusable(directory, messageOf(error), error);
}
