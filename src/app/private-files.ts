import { chmod, lstat, open, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What lies in the data directory is for its owner alone. */

const OTHERS = 0o077;
const OWNER_ONLY = 0o600;

/**
 * Writes a secret for its owner alone, under its name only once all of it is on disk: after a power failure there is the whole
 * secret or none.
 */
export async function keepSecret(path: string, text: string): Promise<void> {
	const draft = `${path}.new`;
	const file = await open(draft, 'w', OWNER_ONLY);
	try {
		await file.chmod(OWNER_ONLY);
		await file.writeFile(text);
		await file.sync();
	} finally {
		await file.close();
	}
	await rename(draft, path);
	const directory = await open(dirname(path), 'r');
	try {
		await directory.sync();
	} finally {
		await directory.close();
	}
}

/** Those of the directory and its files that other users of the machine may open. */
export async function openToOthers(directory: string): Promise<string[]> {
	const files = (await readdir(directory)).map((name) => join(directory, name));
	const all = await Promise.all([
		stat(directory).catch(() => null),
		...files.map((path) => lstat(path).catch(() => null)),
	]);
	return [directory, ...files].filter((path, index) => {
		const found = all[index];
		// What a link leads to, or another directory has in it, is not the server's.
		if (!found || (path !== directory && !found.isFile())) return false;
		return (found.mode & OTHERS) !== 0;
	});
}

/**
 * In a directory that nobody else can enter, files are closed to others: nobody can miss it. A directory that is open may be
 * so on purpose, for backups: what to do about it is answered, a line each.
 */
export async function secureFiles(directory: string): Promise<string[]> {
	const open = await openToOthers(directory);
	if (!open.includes(directory)) {
		await Promise.all(open.map((path) => chmod(path, OWNER_ONLY).catch(() => undefined)));
		return warningsOf(await openToOthers(directory));
	}
	return warningsOf(open);
}

const warningsOf = (paths: readonly string[]): string[] =>
	paths.map((path) => `${path} is open to other users of this machine. Run: chmod go= ${path}`);
