import { Database } from 'bun:sqlite';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, DataDirectoryInUse, DataDirectoryUnusable, messageOf } from './errors.ts';
import { holderOf } from './lock-holder.ts';
import { makePrivately } from './private-file.ts';

/**
 * One process on one data directory. The lock is a transaction held open on a small file beside the
 * database: the kernel gives it back when the process ends, in whatever way.
 */

export const LOCK_FILE = 'lock.db';

/** Kept here, because the lock would go with its connection if that were collected as garbage. */
const held = new Set<Database>();

/** Makes the directory where there is none, and locks it. Returns what unlocks it. */
export function lockDirectory(directory: string): () => void {
	prepareDirectory(directory);
	const file = join(directory, LOCK_FILE);
	let lock: Database | undefined;
	try {
		makePrivately(file);
		lock = new Database(file, { create: true });
		lock.run('PRAGMA busy_timeout = 0');
		lock.run('BEGIN EXCLUSIVE');
	} catch (error) {
		lock?.close();
		if (codeOf(error) === 'SQLITE_BUSY') throw new DataDirectoryInUse(directory, holderOf(file));
		throw new DataDirectoryUnusable(directory, `${LOCK_FILE}: ${messageOf(error)}`, error);
	}
	const taken = lock;
	held.add(taken);
	return () => {
		held.delete(taken);
		taken.close();
	};
}

function prepareDirectory(directory: string): void {
	try {
		mkdirSync(directory, { recursive: true, mode: 0o700 });
	} catch (error) {
		if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTDIR')
			throw new DataDirectoryUnusable(directory, 'it is not a directory', error);
		throw new DataDirectoryUnusable(directory, `it cannot be made (${messageOf(error)})`, error);
	}
	if (!statSync(directory).isDirectory()) throw new DataDirectoryUnusable(directory, 'it is not a directory');
	try {
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new DataDirectoryUnusable(directory, 'it is not writable', error);
	}
}
