import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Freshness } from '../../src/engine/cluster/freshness.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { numbers } from '../support/log/records.ts';
import { connectBoth, redisPlace } from '../support/redis.ts';
import { BEGIN, conversation, created } from '../support/store/facts.ts';

/** Waiting for the store. The embedded store stands in for PostgreSQL: the waiting does not depend on it. */

test('a read waits for its conversation, even if more conversations are awaited than are remembered', async () => {
	const place = redisPlace('redis');
	const { commands, close } = await connectBoth(place);
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
	const store = await openSqliteStore(directory);
	const keys = new Keys(place.prefix);
	const ids = numbers(50, 10).map((number) => `C0000000${number}`);
	for (const id of ids) await commands.hset(keys.meta(id), 'stamp', BEGIN);
	const [late = '', ...others] = ids;
	await store.ledger.commit(others.map((id) => created(conversation(id), [])));
	const epochs = new Epochs(commands, keys.prefix);
	const freshness = new Freshness({
		commands,
		keys,
		epochs,
		source: store.source,
		changedSince: async () => [],
		nowMs: () => performance.now(),
		mostCached: 20,
	});
	let isFresh = false;
	const fresh = freshness.conversations(ids).then(() => {
		isFresh = true;
	});
	await Bun.sleep(50);
	expect(isFresh).toBe(false);
	await store.ledger.commit([created(conversation(late), [])]);
	await fresh;
	close();
	await store.close();
	await rm(directory, { recursive: true, force: true });
});
