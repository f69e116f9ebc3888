import { expect, test } from 'bun:test';
import { PostgresWatch } from './service-watch.ts';

/** What the hooks of PostgreSQL's retries report. */

test('only writes count as failed writes, whether PostgreSQL is unavailable or rejects them', () => {
	let failedWrites = 0;
	const watch = new PostgresWatch({
		degraded: () => undefined,
		recovered: () => undefined,
		failedWrite: () => {
			failedWrites += 1;
		},
	});
	const error = new Error('PostgreSQL: failed');
	const reads = watch.hooksFor('reads');
	reads.onTrouble?.(1, error);
	reads.onRejected?.(error);
	expect(failedWrites).toBe(0);
	const writes = watch.hooksFor('writes');
	writes.onTrouble?.(1, error);
	writes.onRejected?.(error);
	expect(failedWrites).toBe(2);
});
