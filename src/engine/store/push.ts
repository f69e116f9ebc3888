import type { PushStore } from '../ports/push.ts';
import { devicesOn } from './push-devices.ts';
import { outboxOn } from './push-outbox.ts';
import type { SqlReader, Statement } from './sql.ts';

/** The push port on a database. */
export const pushStoreOn = (
	reader: SqlReader,
	execute: (statements: readonly Statement[]) => Promise<void>,
): PushStore => ({ devices: devicesOn(reader, execute), outbox: outboxOn(reader, execute) });
