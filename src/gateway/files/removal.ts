import type { FileRecord } from '../../engine/ports/files.ts';
import { Refusal } from '../../model/errors.ts';
import type { FileServices, Services } from '../services.ts';

/**
 * The end of a file that nobody reads any more: tombstones in its messages, then its content, then its name. Each step can be repeated, and
 * the row says which are done, so a sweep that finds it half done after a crash continues from there.
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
			// The message was deleted since.
			if (!(error instanceof Refusal && error.code === 'message_not_found')) throw error;
		}
}

export async function removeContent({ records, contents }: FileServices, file: FileRecord): Promise<void> {
	await contents.remove(file.id);
	await records.deleted(file.id);
}
