import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/app/engine.ts';
import { stampClock } from '../../src/app/stamp-clock.ts';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import type { Keeping } from '../../src/engine/cluster/redis/read-state/loading.ts';
import { RedisSessions } from '../../src/engine/cluster/redis/sessions.ts';
import { MemoryLog } from '../../src/engine/embedded/memory-log.ts';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Ledger } from '../../src/engine/ports/store.ts';
import type { ReadState } from '../../src/unread/read-state.ts';
import type { TestedEngine } from '../contract/engines.ts';
import { connectBoth, type Layout, redisPlace } from './redis.ts';
import { readStateOn } from './redis-read-state.ts';

/**
 * Read state, bus and sessions on Redis, with the embedded store and log: what fails here is Redis's part.
 * Opened again it finds an empty Redis, so everything comes back from the store.
 */

export interface RedisTestEngine extends Engine {
	/** For tests that look at, or damage, what is in Redis. */
	readonly redis: { readonly commands: Commands; readonly keys: Keys };
}

export async function openRedisEngine(
	layout: Layout,
	dataDir: string,
	keeping: Keeping = {},
): Promise<RedisTestEngine> {
	const place = redisPlace(layout);
	const { commands, subscriber, close } = await connectBoth(place);
	const store = await openSqliteStore(dataDir);
	const clock = stampClock(await store.newestStamp());
	const keys = new Keys(place.prefix);
	const onError = (error: Error) => console.error(error);
	const bus = new RedisBus(commands, subscriber, keys, { onGap: () => undefined, onError });
	const sessions = new RedisSessions(commands, keys, 'g1', { onChanged: async () => undefined, onError });
	const readState = await readStateOn(store, { commands, keys, clock, keeping });
	return {
		name: 'cluster',
		store: { ...store, ledger: tellingOf(store.ledger, readState) },
		written: store.directory,
		readState,
		sessions,
		bus,
		log: new MemoryLog(),
		tickets: new MemoryTickets(
			() => Date.now(),
			(count) => crypto.getRandomValues(new Uint8Array(count)),
		),
		clock,
		gateway: 'local',
		onSetback: () => undefined,
		onStoreTrouble: () => undefined,
		evict: () => undefined,
		redis: { commands, keys },
		close: async () => {
			bus.close();
			sessions.close();
			close();
			await store.close();
		},
	};
}

/** As a worker of a cluster does, what was written is told to the read state: so it is trimmed in between. */
const tellingOf = (ledger: Ledger, readState: ReadState): Ledger => ({
	...ledger,
	settled: () => ledger.settled(),
	durable: () => ledger.durable(),
	commit: async (facts) => {
		await ledger.commit(facts);
		for (const fact of facts)
			if ('conversation' in fact && typeof fact.conversation === 'object')
				await readState.written(fact.conversation.id, fact.at);
	},
});

export function redisEngine(layout: Layout, keeping: Keeping = {}): TestedEngine {
	// Asked for and not there: the file fails as a whole. Within a case, a wrong engine would seem to be caught.
	redisPlace(layout);
	return {
		name: layout,
		place: async () => {
			const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-engine-'));
			return {
				open: () => openRedisEngine(layout, dataDir, keeping),
				remove: () => rm(dataDir, { recursive: true, force: true }),
			};
		},
	};
}
