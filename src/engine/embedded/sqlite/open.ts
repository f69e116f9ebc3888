import { Database } from 'bun:sqlite';
import { join, resolve } from 'node:path';
import type { Store } from '../../ports/store.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import { SchemaTooNew } from '../../store/migrations.ts';
import { writeFactForPush } from '../../store/push-facts.ts';
import { storeOn } from '../../store/store.ts';
import { lockDirectory } from './directory-lock.ts';
import { codeOf, DatabaseDamaged, DataDirectoryUnusable, messageOf } from './errors.ts';
import { notingWithDevices } from './push-noting.ts';
import { SqliteReader } from './reader.ts';
import { migrate, recordStart } from './schema.ts';
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
	/** Largest size of the database in pages, for tests of a full disk. */
	readonly maxPages?: number;
}

const nowMicros = (): number => Date.now() * 1000;
const defaultStart = (newest: number): number => Math.max(nowMicros(), newest + 1);

export async function openSqliteStore(dataDir: string, options: SqliteStoreOptions = {}): Promise<Store> {
	const directory = resolve(dataDir);
	const unlock = lockDirectory(directory);
	const path = join(directory, DATABASE_FILE);
	let database: Database | undefined;
	try {
		database = new Database(path, { create: true, readwrite: true });
		prepare(database);
		migrate(database, nowMicros());
		const newest = recordStart(database, options.startStamp ?? defaultStart);
		// From here on, only the writing thread writes.
		database.run('PRAGMA query_only = ON');
		const reader = new SqliteReader(database);
		const writer = await SqliteWriter.open({ path, maxPages: options.maxPages ?? 0 });
		const ignore = () => undefined;
		const noting = options.push === 'with devices' ? await notingWithDevices(reader) : null;
		const commits = new GroupCommit(
			(batch) => writer.write(batch),
			options.onCommitFailure ?? ignore,
			newest,
			noting?.write ?? (options.push ? writeFactForPush : undefined),
		);
		const opened = database;
		const store = storeOn(reader, commits, async () => {
			await commits.close();
			reader.close();
			opened.close();
			// Last of the two connections: it leaves everything in one file.
			await writer.close();
			unlock();
		});
		return noting ? { ...store, push: noting.watch(store.push) } : store;
	} catch (error) {
		database?.close();
		unlock();
		throw error instanceof SchemaTooNew ? error : unusable(directory, error);
	}
}

function prepare(database: Database): void {
	for (const pragma of [
		'busy_timeout = 10000',
		'journal_mode = WAL',
		'synchronous = FULL',
		'cache_size = -65536',
		'temp_store = MEMORY',
	]) {
		database.run(`PRAGMA ${pragma}`);
	}
}

function unusable(directory: string, error: unknown): Error {
	const damaged = ['SQLITE_NOTADB', 'SQLITE_CORRUPT'].some((code) => codeOf(error).startsWith(code));
	if (damaged) return new DatabaseDamaged(join(directory, DATABASE_FILE), error);
	return new DataDirectoryUnusable(directory, messageOf(error), error);
}
