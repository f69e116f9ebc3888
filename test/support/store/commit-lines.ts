import { openSqliteStore } from '../../../src/engine/embedded/sqlite/open.ts';
import { messageOfError } from '../../../src/model/errors.ts';

/** A separate process: commits the facts in each line of its input, and prints the result. */

const [directory = ''] = process.argv.slice(2);
const store = await openSqliteStore(directory, { eraseWithinMs: 20 });
for await (const line of console)
	console.log(
		await store.ledger.commit(JSON.parse(line)).then(
			() => 'committed',
			(error: unknown) => messageOfError(error),
		),
	);
