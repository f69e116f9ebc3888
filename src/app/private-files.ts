import { chmod, lstat, open, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Keeps other users of the machine out of the files in the data directory. */

const OTHERS = 0o077;
const OWNER_ONLY = 0o600;

/**
 * Writes a secret that only the owner can read. Atomic: after a power failure the file has the whole secret,
 * or is as it was before.
 */
export async function writeSecret(path: string, text: string): Promise<void> {
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

/** The paths, of the directory and its files, that other users of the machine may open. */
export async function openToOthers(directory: string): Promise<string[]> {
	const files = (await readdir(directory)).map((name) => join(directory, name));
	const all = await Promise.all([
		stat(directory).catch(() => null),
		...files.map((path) => lstat(path).catch(() => null)),
	]);
	return [directory, ...files].filter((path, index) => {
		const found = all[index];
		// The server creates its subdirectory `files` private. Other subdirectories, and targets of symbolic links, are not the server's.
		if (!found || (path !== directory && !found.isFile())) return false;
		return (found.mode & OTHERS) !== 0;
	});
}

/**
 * Makes files private if the directory is private, because then no other user can depend on reading them. Does not change files in an
 * open directory, which may be intentional (backups). Returns one warning for each path that stays open.
 */
export async function secureFiles(directory: string): Promise<string[]> {
	const exposed = await openToOthers(directory);
	if (!exposed.includes(directory)) {
		await Promise.all(exposed.map((path) => chmod(path, OWNER_ONLY).catch(() => undefined)));
		return warningsOf(await openToOthers(directory));
	}
	return warningsOf(exposed);
}

const warningsOf = (paths: readonly string[]): string[] =>
	paths.map((path) => `${path} is open to other users of this machine. Run: chmod go= ${path}`);
