import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { describePushContract } from './outbox-contract.ts';

describePushContract('SQLite', async () => {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-push-'));
	return {
		open: (push) => openSqliteStore(directory, { push }),
		remove: () => rm(directory, { recursive: true }),
	};
});
