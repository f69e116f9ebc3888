import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { describeStoreContract } from '../support/store/contract.ts';

describeStoreContract('SQLite', async () => {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-store-'));
	return {
		open: () => openSqliteStore(directory),
		remove: () => rm(directory, { recursive: true }),
	};
});
