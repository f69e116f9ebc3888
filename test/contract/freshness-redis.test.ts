import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Freshness } from '../../src/engine/cluster/freshness.ts';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { EpochGuard } from '../../src/engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { numbers } from '../support/log/records.ts';
import { connectBoth, redisPlace } from '../support/redis.ts';
import { BEGIN, conversation, created } from '../support/store/facts.ts';

/** Waiting for the store. The embedded store stands in for PostgreSQL: the waiting does not depend on it. */

let commands: Commands;
let keys: Keys;
let epochs: Epochs;
let store: Store;
let freshness: Freshness;
let sent: string[] = [];
let end: () => Promise<void>;

beforeEach(async () => {
	const place = redisPlace('redis');
	const both = await connectBoth(place);
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
	store = await openSqliteStore(directory);
	({ commands } = both);
	keys = new Keys(place.prefix);
	epochs = new Epochs(commands, keys.prefix);
	await epochs.begin(() => 1);
	freshness = new Freshness({
		commands: recording(commands),
		keys,
		guard: new EpochGuard(new Epochs(recording(commands), keys.prefix)),
		source: store.source,
		changedSince: async () => [],
		nowMs: () => performance.now(),
		mostCached: 20,
	});
	end = async () => {
		both.close();
		await store.close();
		await rm(directory, { recursive: true, force: true });
	};
});
afterEach(() => end());

/** Records the names of commands. */
const recording = (commands: Commands): Commands =>
	new Proxy(commands, {
		get(target, name) {
			const value = Reflect.get(target, name) as unknown;
			if (typeof value !== 'function') return value;
			return (...args: unknown[]) => {
				sent.push(String(name));
				return Reflect.apply(value, target, args);
			};
		},
	});

const setStamp = (id: string): Promise<unknown> => commands.set(keys.version(id), `${BEGIN}:1:0`);

test('a read waits for its conversation, even if more conversations are awaited than are remembered', async () => {
	const ids = numbers(50, 10).map((number) => `C0000000${number}`);
	for (const id of ids) await setStamp(id);
	const [late = '', ...others] = ids;
	await store.ledger.commit(others.map((id) => created(conversation(id), [])));
	let isFresh = false;
	const fresh = freshness.conversations(ids).then(() => {
		isFresh = true;
	});
	await Bun.sleep(50);
	expect(isFresh).toBe(false);
	await store.ledger.commit([created(conversation(late), [])]);
	await fresh;
});

test('reading a conversation or a user without recent changes sends one command', async () => {
	await freshness.conversations(['C01']);
	sent = [];
	await freshness.conversations(['C02']);
	expect(sent).toEqual(['versions']);
	sent = [];
	expect(await freshness.user('U01', 0)).toBeNull();
	expect(sent).toEqual(['userChanges']);
});

test('the fields of a user in Redis are returned, after waiting for their conversations', async () => {
	await commands.hset(keys.fields('U01'), { version: '5', 'C01 ': '1', stamp: '7' });
	await store.ledger.commit([created(conversation('C01'), ['U01'])]);
	await setStamp('C01');
	expect(await freshness.user('U01', 0)).toEqual({ version: '5', 'C01 ': '1', stamp: '7' });
});

test('while Redis lacks data, reads are rejected, because absent changes may be lost', async () => {
	await freshness.conversations(['C01']);
	await epochs.endAll();
	const rejections = [
		freshness.conversations(['C01']),
		freshness.user('U01', 0),
		freshness.memberships('C01', ['U01']),
	];
	for (const rejected of await Promise.allSettled(rejections))
		expect(rejected).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
	await epochs.clear();
	await epochs.begin(() => 2);
	await freshness.conversations(['C01']);
});
