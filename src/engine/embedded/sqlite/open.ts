import { Database } from 'bun:sqlite';
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOfError } from '../../../model/errors.ts';
import type { Store } from '../../ports/store.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import { SchemaTooNew } from '../../store/migrations.ts';
import { writeFactForPush } from '../../store/push-facts.ts';
import { storeOn } from '../../store/store.ts';
import { createPrivately, LOCK_FILE, lockDirectory } from './directory-lock.ts';
import { codeOf, DatabaseDamaged, DataDirectoryUnusable } from './errors.ts';
import { queueingWithDevices } from './push-queueing.ts';
import { SqliteReader } from './reader.ts';
import { migrate, recordStart, writeStartNumber } from './schema.ts';
import { indexInBackground, indexingWords, sqliteSearch } from './search.ts';
import { SqliteWriter } from './writer.ts';

export { DatabaseDamaged, DataDirectoryInUse, DataDirectoryUnusable } from './errors.ts';

/**
 * The store of the embedded engine: a directory with one SQLite database, read on this thread, written by a
 * worker thread, and used by this process alone.
 */

export const DATABASE_FILE = 'tidemark.db';

export interface SqliteStoreOptions {
	/** The stamp of this start, later than the newest one in the database. */
	readonly startStamp?: (newest: number) => number;
	/** A commit failed and nothing of it is durable: changes applied in memory are invalid. */
	readonly onCommitFailure?: (error: Error) => void;
	/** Whether posts and marks are queued for push; `with devices`: once there is a device. */
	readonly push?: boolean | 'with devices';
	/** The files are no longer those that were opened, so all writes are rejected; null: the opened files are back. */
	readonly onTrouble?: (error: Error | null) => void;
	/** How long deleted or replaced content may stay in the write-ahead log. */
	readonly eraseWithinMs?: number;
	/** Largest size of the database in pages, for tests of a full disk. */
	readonly maxPages?: number;
}

const ERASE_WITHIN_MS = 30_000;
/** No other process uses the store, so this one holds the lease of every app, without writing it. */
const ALWAYS_HELD: Pick<Store['apps'], 'lease' | 'release'> = {
	lease: async () => true,
	release: async () => undefined,
};
/** Connections that must stay open: closing them would write to files that do not belong to this server. */
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
		rejectEmpty(path);
		createPrivately(path);
		descriptor = openSync(path, 'r');
		database = new Database(path, { create: true, readwrite: true });
		prepare(database);
		migrate(database, nowMicros());
		const newest = recordStart(database, options.startStamp ?? defaultStart);
		const startNumber = writeStartNumber(database);
		// From now on only the writer thread writes.
		database.run('PRAGMA query_only = ON');
		const reader = new SqliteReader(database);
		const ignore = () => undefined;
		const queueing = options.push === 'with devices' ? await queueingWithDevices(reader) : null;
		const files = { descriptor, database: path, lock: join(directory, LOCK_FILE), startNumber };
		const writer = await SqliteWriter.open(
			{
				path,
				files,
				maxPages: options.maxPages ?? 0,
				eraseWithinMs: options.eraseWithinMs ?? ERASE_WITHIN_MS,
			},
			options.onTrouble ?? ignore,
		);
		const commits = new GroupCommit(
			(batch) => writer.write(batch),
			options.onCommitFailure ?? ignore,
			newest,
			indexingWords(queueing?.write ?? (options.push ? writeFactForPush : undefined)),
		);
		const stopIndexing = indexInBackground(reader.lowPriority, commits);
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
			// The last of the two connections to close: it merges everything into one file.
			await writer.close();
			closeSync(guarded);
			unlock();
		};
		let closing: Promise<void> | null = null;
		const closeOnce = (): Promise<void> => {
			closing ??= close();
			return closing;
		};
		const search = sqliteSearch(reader.lowPriority);
		// All writes go through these commits in the order of stamps, so every change up to the newest durable stamp is stored.
		const shared = storeOn(reader, commits, search, closeOnce, () => commits.durable());
		const store = { ...shared, apps: { ...shared.apps, ...ALWAYS_HELD } };
		return queueing ? { ...store, push: queueing.watch(store.push) } : store;
	} catch (error) {
		database?.close();
		if (descriptor !== undefined) {
			closeSync(descriptor);
			// This start created the file: the next one must not reject it as damaged.
			if (isEmpty(path)) rmSync(path);
		}
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

const isEmpty = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.size === 0;

/** Throws for an empty file: SQLite would treat it as a new database, and all data would seem lost. */
function rejectEmpty(path: string): void {
	if (isEmpty(path)) throw new DatabaseDamaged(path, undefined, 'has 0 bytes');
}

function unusable(directory: string, error: unknown): Error {
	const damaged = ['SQLITE_NOTADB', 'SQLITE_CORRUPT'].some((code) => codeOf(error).startsWith(code));
	if (damaged) return new DatabaseDamaged(join(directory, DATABASE_FILE), error);
	return new DataDirectoryUnusable(directory, messageOfError(error), error);
}
