import type { Search } from '../ports/search.ts';
import type { StateSource, Store } from '../ports/store.ts';
import { appsOn } from './apps.ts';
import { changesOf } from './changes.ts';
import { directoryOf } from './directory.ts';
import { filesOn } from './files.ts';
import type { GroupCommit } from './group-commit.ts';
import { historyOf } from './history.ts';
import { pushStoreOn } from './push.ts';
import { scheduledOn } from './scheduled.ts';
import { sourceOf } from './source.ts';
import { patiently, type SqlReader } from './sql.ts';
import { workspaceChangesOn } from './workspace-changes.ts';

export const NEWEST_STAMP = 'SELECT newest_stamp FROM progress WHERE id = 1';
export const RECORD_START = 'INSERT INTO starts (at) VALUES ($1) ON CONFLICT (at) DO NOTHING';

/** The store's port on a database: one that is read from here, and written to by group commit. */
export function storeOn(
	reader: SqlReader,
	writer: GroupCommit,
	search: Search,
	close: () => Promise<void>,
	completeUpTo?: StateSource['completeUpTo'],
): Store {
	return {
		directory: directoryOf(reader, (writes) => writer.execute(writes)),
		push: pushStoreOn(reader, writer),
		apps: appsOn(
			reader,
			(writes) => writer.execute(writes),
			(writes) => writer.executeAside(writes),
		),
		history: historyOf(reader),
		source: sourceOf(reader, completeUpTo),
		changes: changesOf(patiently(reader)),
		workspaceChanges: workspaceChangesOn(patiently(reader)),
		ledger: writer,
		async newestStamp() {
			const [row] = await reader.all<{ newest_stamp: number }>(NEWEST_STAMP, []);
			return row?.newest_stamp ?? 0;
		},
		search,
		scheduled: scheduledOn(reader, (writes) => writer.execute(writes)),
		files: filesOn(reader, (writes) => writer.execute(writes)),
		close,
	};
}
