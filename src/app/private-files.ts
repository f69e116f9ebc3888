import { chmod, open, readdir, rename, stat } from 'node:fs/promises';
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
	const names = await readdir(directory);
	const paths = [directory, ...names.map((name) => join(directory, name))];
	const modes = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
	return paths.filter((_, index) => ((modes[index]?.mode ?? 0) & OTHERS) !== 0);
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
