import { Database } from 'bun:sqlite';
import {
	accessSync,
	closeSync,
	constants,
	mkdirSync,
	openSync,
	readdirSync,
	readlinkSync,
	realpathSync,
	statSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOfError } from '../../../model/errors.ts';
import { codeOf, DataDirectoryInUse, DataDirectoryUnusable } from './errors.ts';

/**
 * Lets one process use a data directory. The lock is an open transaction on a small file next to the
 * database: the kernel releases it when the process ends, even by a crash.
 */

export const LOCK_FILE = 'lock.db';

/** Referenced here, because garbage collection of the connection would release the lock. */
const held = new Set<Database>();

/** Creates the directory if needed, and locks it. Returns a function that unlocks it. */
export function lockDirectory(directory: string): () => void {
	prepareDirectory(directory);
	const file = join(directory, LOCK_FILE);
	let lock: Database | undefined;
	try {
		createPrivately(file);
		lock = new Database(file, { create: true });
		lock.run('PRAGMA busy_timeout = 0');
		lock.run('BEGIN EXCLUSIVE');
	} catch (error) {
		lock?.close();
		if (codeOf(error) === 'SQLITE_BUSY') throw new DataDirectoryInUse(directory, lockHolder(file));
		throw new DataDirectoryUnusable(directory, `${LOCK_FILE}: ${messageOfError(error)}`, error);
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
		throw new DataDirectoryUnusable(directory, `it cannot be created (${messageOfError(error)})`, error);
	}
	if (!statSync(directory).isDirectory()) throw new DataDirectoryUnusable(directory, 'it is not a directory');
	try {
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new DataDirectoryUnusable(directory, 'it is not readable and writable', error);
	}
}

/**
 * Creates a file that only its owner can access, whatever the umask; SQLite creates the files next to it with the same mode. An
 * existing file is not opened: closing it would release the locks that this process may have on it.
 */
export function createPrivately(path: string): void {
	try {
		closeSync(openSync(path, 'wx', 0o600));
	} catch (error) {
		if (codeOf(error) !== 'EEXIST') throw error;
	}
}

/** Id of another process that has this file open; null if the system does not reveal it. */
export function lockHolder(file: string): number | null {
	try {
		const path = realpathSync(file);
		const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
		const holder = others.find((id) => hasOpen(id, path));
		return holder === undefined ? null : Number(holder);
	} catch {
		// No /proc on this system.
		return null;
	}
}

function hasOpen(id: string, path: string): boolean {
	try {
		const files = readdirSync(`/proc/${id}/fd`);
		return files.some((fd) => readlinkSync(`/proc/${id}/fd/${fd}`) === path);
	} catch {
		// The process has ended, or belongs to another user.
		return false;
	}
}
