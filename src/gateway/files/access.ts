import type { FileRecord, FileShare } from '../../engine/ports/files.ts';
import { type ErrorCode, Rejection } from '../../model/errors.ts';
import { type CallContext, nullIfRejected, readableOrNull } from '../http/access.ts';
import type { FileServices, Services } from '../services.ts';

/** Decides which users may see a file: its uploader, and users who may read a conversation that it is shared in. */

export const noFile = (): Rejection => new Rejection('file_not_found', 'file: no such file');

export function filesOf({ files }: Pick<Services, 'files'>): FileServices {
	if (files) return files;
	throw new Rejection(
		'files_disabled',
		'files are disabled; the administrator can enable them with TIDEMARK_FILE_MAX_MB and, in a cluster, TIDEMARK_S3_BUCKET or TIDEMARK_FILES_DIR',
	);
}

export interface VisibleFile {
	readonly file: FileRecord;
	/** Shares in conversations that the caller may read. */
	readonly shares: readonly FileShare[];
}

/** Throws `file_not_found` if there is no file that the caller may see. */
export async function visibleFile(context: CallContext, id: string): Promise<VisibleFile> {
	const { records } = filesOf(context.services);
	const [file] = await records.get([id]);
	if (!file || file.team !== context.caller.team) throw noFile();
	const isOwn = file.user === context.caller.user.id;
	if (file.state === 'deleted' || file.state === 'deleting')
		throw isOwn ? new Rejection('file_deleted', 'file: deleted') : noFile();
	if (file.state !== 'complete') throw noFile();
	const shares = await readableShares(context, await records.shares(file));
	if (!isOwn && shares.length === 0) throw noFile();
	return { file, shares };
}

const NOT_VISIBLE: readonly ErrorCode[] = ['file_not_found', 'file_deleted'];

/** As `visibleFile`; null if there is no file that the caller may see. */
export const visibleFileOrNull = (context: CallContext, id: string): Promise<VisibleFile | null> =>
	nullIfRejected(visibleFile(context, id), NOT_VISIBLE);

export async function readableShares(
	context: CallContext,
	shares: readonly FileShare[],
): Promise<readonly FileShare[]> {
	const places = new Set(shares.map(({ conversation }) => conversation));
	const mayRead = new Map<string, boolean>();
	for (const place of places) mayRead.set(place, (await readableOrNull(context, place)) !== null);
	return shares.filter(({ conversation }) => mayRead.get(conversation));
}
