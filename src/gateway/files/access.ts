import type { FileRecord, FileShare } from '../../engine/ports/files.ts';
import { Refusal } from '../../model/errors.ts';
import { type Asking, readable } from '../http/access.ts';
import type { FileServices, Services } from '../services.ts';

/** Who may see a file: the user who uploaded it, and every user who may read a conversation that it is in. */

export const noFile = (): Refusal => new Refusal('file_not_found', 'file: no such file');

export function filesOf({ files }: Pick<Services, 'files'>): FileServices {
	if (files) return files;
	throw new Refusal(
		'files_disabled',
		'the administrator can enable files: TIDEMARK_FILE_MAX_MB, TIDEMARK_S3_BUCKET',
	);
}

export interface VisibleFile {
	readonly file: FileRecord;
	/** Those that the caller may read. */
	readonly shares: readonly FileShare[];
}

/** Throws `file_not_found` where there is none that the caller may know of. */
export async function visibleFile(asking: Asking, id: string): Promise<VisibleFile> {
	const { records } = filesOf(asking.services);
	const [file] = await records.get([id]);
	if (!file || file.team !== asking.caller.team) throw noFile();
	const isOwn = file.user === asking.caller.user.id;
	if (file.state === 'deleted' || file.state === 'deleting')
		throw isOwn ? new Refusal('file_deleted', 'file: deleted') : noFile();
	if (file.state !== 'complete') throw noFile();
	const shares = await readableShares(asking, await records.shares(file));
	if (!isOwn && shares.length === 0) throw noFile();
	return { file, shares };
}

export async function readableShares(
	asking: Asking,
	shares: readonly FileShare[],
): Promise<readonly FileShare[]> {
	const places = new Set(shares.map(({ conversation }) => conversation));
	const mayRead = new Map<string, boolean>();
	for (const place of places) mayRead.set(place, await canRead(asking, place));
	return shares.filter(({ conversation }) => mayRead.get(conversation));
}

async function canRead(asking: Asking, conversation: string): Promise<boolean> {
	try {
		await readable(asking, conversation);
		return true;
	} catch (error) {
		if (error instanceof Refusal && NOT_READABLE.has(error.code)) return false;
		throw error;
	}
}

const NOT_READABLE: ReadonlySet<string> = new Set(['channel_not_found', 'not_in_channel']);
