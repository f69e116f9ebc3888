import type { Search } from '../ports/search.ts';
import type { StateSource, Store } from '../ports/store.ts';
import { appsOn } from './apps.ts';
import { changesOn } from './changes.ts';
import { directoryOn } from './directory.ts';
import { filesOn } from './files.ts';
import type { GroupCommit } from './group-commit.ts';
import { historyOn } from './history.ts';
import { devicesOn } from './push-devices.ts';
import { outboxOn } from './push-outbox.ts';
import { scheduledOn } from './scheduled.ts';
import { sourceOn } from './source.ts';
import { type SqlReader, withLowPriority } from './sql.ts';
import { workspaceChangesOn } from './workspace-changes.ts';

export const NEWEST_STAMP = 'SELECT newest_stamp FROM progress WHERE id = 1';
export const RECORD_START = 'INSERT INTO starts (at) VALUES ($1) ON CONFLICT (at) DO NOTHING';

/** The store port on a database: reads from `reader`, writes by group commit. */
export function storeOn(
	reader: SqlReader,
	writer: GroupCommit,
	search: Search,
	close: () => Promise<void>,
	completeUpTo?: StateSource['completeUpTo'],
): Store {
	return {
		directory: directoryOn(reader, (writes) => writer.execute(writes)),
		push: {
			devices: devicesOn(reader, (writes) => writer.execute(writes)),
			outbox: outboxOn(reader, (writes) => writer.executeInBackground(writes)),
		},
		apps: appsOn(
			reader,
			(writes) => writer.execute(writes),
			(writes) => writer.executeInBackground(writes),
		),
		history: historyOn(reader),
		source: sourceOn(reader, completeUpTo),
		changes: changesOn(withLowPriority(reader)),
		workspaceChanges: workspaceChangesOn(withLowPriority(reader)),
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
