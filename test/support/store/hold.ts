import { openSqliteStore } from '../../../src/engine/embedded/sqlite/open.ts';
import { conversation, created } from './facts.ts';

/** A separate process: opens the store in the given directory, writes to it, reports the result, and stays. */

const [directory = ''] = process.argv.slice(2);
try {
	const store = await openSqliteStore(directory);
	await store.ledger.commit([created(conversation('C01'), ['U01'])]);
	// Nothing refers to the store any more: garbage collection must not release the lock.
	Bun.gc(true);
	console.log('open');
	setInterval(() => undefined, 60_000);
} catch (error) {
	console.log(error instanceof Error ? error.name : String(error));
}
