import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Inspected, inspectDirectory } from '../../engine/embedded/sqlite/inspect.ts';
import { DATABASE_FILE } from '../../engine/embedded/sqlite/open.ts';
import { SchemaTooNew } from '../../engine/store/migrations.ts';
import { messageOfError } from '../../model/errors.ts';
import { openToOthers } from '../private-files.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Checks the data directory: whether it is usable, and what it contains. Changes nothing. */

const GB = 1024 ** 3;
const LITTLE_BYTES = GB;
const TOO_LITTLE_BYTES = 64 * 1024 ** 2;
const ABOUT = 'data directory';

export interface DirectoryFindings {
	readonly findings: readonly Finding[];
	/** Time of the newest stamp in the database. */
	readonly newestMs: number | null;
}

export async function directoryFindings(dataDir: string): Promise<DirectoryFindings> {
	const directory = resolve(dataDir);
	const place = existsSync(directory) ? directory : nearest(directory);
	if (!statSync(place).isDirectory())
		return only(bad(ABOUT, `${place} is not a directory`, 'Choose another path with --data-dir'));
	if (!isWritable(place))
		return only(
			bad(
				ABOUT,
				`this user cannot write to ${place}`,
				'Fix its permissions, or choose another path with --data-dir',
			),
		);
	const space = judgeSpace(freeBytes(place));
	if (place !== directory)
		return { findings: [ok(ABOUT, `${directory} will be created`), space], newestMs: null };
	const { findings, newestMs } = inside(directory);
	return { findings: [...findings, ...(await secrecy(directory)), space], newestMs };
}

const only = (finding: Finding): DirectoryFindings => ({ findings: [finding], newestMs: null });

/** The nearest ancestor that exists. */
function nearest(directory: string): string {
	const above = dirname(directory);
	return existsSync(above) || above === directory ? above : nearest(above);
}

function isWritable(directory: string): boolean {
	try {
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

function freeBytes(directory: string): number {
	const { bavail, bsize } = statfsSync(directory);
	return bavail * bsize;
}

export function judgeSpace(bytes: number): Finding {
	const about = 'disk';
	const free = `${(bytes / GB).toFixed(1)} GB free`;
	const fix = 'Free some space, or move the data directory: on a full disk every change is rejected';
	if (bytes < TOO_LITTLE_BYTES) return bad(about, free, fix);
	return bytes < LITTLE_BYTES ? warn(about, free, fix) : ok(about, free);
}

function inside(directory: string): DirectoryFindings {
	if (statSync(join(directory, DATABASE_FILE), { throwIfNoEntry: false })?.size === 0)
		return only(
			bad(
				'database',
				`${DATABASE_FILE} has 0 bytes`,
				'Restore it from a backup; to start with an empty database, remove it',
			),
		);
	let inspected: Inspected;
	try {
		inspected = inspectDirectory(directory);
	} catch (error) {
		if (error instanceof SchemaTooNew)
			return only(bad('database', messageOfError(error), 'See docs/upgrade.md'));
		return only(
			bad(
				'database',
				`cannot be read (${messageOfError(error)})`,
				'Restore it from a backup, or fix its permissions',
			),
		);
	}
	const { inUse, usedBy, database } = inspected;
	const by = usedBy === null ? 'another process' : `process ${usedBy}`;
	const use = ok(ABOUT, inUse ? `${directory}, in use by ${by}` : `${directory}, writable, not in use`);
	if (!database) return { findings: [use, ok('database', 'none yet')], newestMs: null };
	return { findings: [use, judgeDatabase(database)], newestMs: database.newestStamp / 1000 };
}

function judgeDatabase({ damage, pending, bytes }: NonNullable<Inspected['database']>): Finding {
	if (damage.length > 0) return bad('database', `damaged: ${damage.join('; ')}`, 'Restore it from a backup');
	const size = `${(bytes / 1024 ** 2).toFixed(1)} MB, no damage found`;
	return ok('database', pending === 0 ? size : `${size}; the next start runs ${pending} migrations`);
}

async function secrecy(directory: string): Promise<Finding[]> {
	const paths = await openToOthers(directory);
	return paths.map((path) =>
		warn(ABOUT, `${path} is open to other users of this machine`, `chmod go= ${path}`),
	);
}
