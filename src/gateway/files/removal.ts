import type { FileRecord } from '../../engine/ports/files.ts';
import { Rejection } from '../../model/errors.ts';
import type { FileServices, Services } from '../services.ts';

/**
 * The steps of deleting a file: leave tombstones in its messages, remove its content, then the name in its row. Each step can be
 * repeated, and the state of the file is `deleting` until all are done, so after a crash the sweeper runs them again.
 */

export async function leaveTombstones(
	{ requests }: Pick<Services, 'requests'>,
	{ records }: Pick<FileServices, 'records'>,
	file: FileRecord,
): Promise<void> {
	const actor = { user: file.user, team: file.team };
	for (const { conversation, ts } of await records.shares(file))
		try {
			await requests.submit(actor, conversation, { type: 'remove_file', ts, file: file.id });
		} catch (error) {
			// The message has been deleted since.
			if (!(error instanceof Rejection && error.code === 'message_not_found')) throw error;
		}
}

export async function removeContent({ records, contents }: FileServices, file: FileRecord): Promise<void> {
	await contents.remove(file.id);
	await records.deleted(file.id);
}
