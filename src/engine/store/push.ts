import type { PushStore } from '../ports/push.ts';
import type { GroupCommit } from './group-commit.ts';
import { devicesOn } from './push-devices.ts';
import { outboxOn } from './push-outbox.ts';
import type { SqlReader } from './sql.ts';

/** The push port on a database. */
export const pushStoreOn = (reader: SqlReader, writer: GroupCommit): PushStore => ({
	devices: devicesOn(reader, (writes) => writer.execute(writes)),
	outbox: outboxOn(reader, (writes) => writer.executeAside(writes)),
});
