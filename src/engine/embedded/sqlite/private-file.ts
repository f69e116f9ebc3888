import { closeSync, openSync } from 'node:fs';
import { codeOf } from './errors.ts';

/**
 * Makes a file for its owner alone, whatever the umask; SQLite gives the files beside it the same mode. One that exists is not
 * opened: closing it would give up the locks that this process may have on it.
 */
export function makePrivately(path: string): void {
	try {
		closeSync(openSync(path, 'wx', 0o600));
	} catch (error) {
		if (codeOf(error) !== 'EEXIST') throw error;
	}
}
