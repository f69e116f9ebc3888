import { afterEach } from 'bun:test';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { EpochGuard } from '../../src/engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisViews, type RedisViewsParts } from '../../src/engine/cluster/redis/read-state/redis-views.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { risingClock } from '../../src/model/ts.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { postgresPlace } from './postgres.ts';
import { connectBoth, type Layout, redisPlace } from './redis.ts';
import { WholeReadState } from './whole-read-state.ts';

/**
 * Read states on Redis and PostgreSQL for tests, guarded by epochs as in a cluster: one on a given store, or several on the same
 * store and Redis, as if in separate processes.
 */

export const nowMicros = (): number => Date.now() * 1000;

type Chosen = Partial<Omit<RedisViewsParts, 'commands' | 'keys' | 'clock' | 'guard'>>;

/** Unless `parts` say otherwise, the read state reads from this store and writes marks to it. */
export const readStateOn = (
	{ source, ledger }: Pick<Store, 'source' | 'ledger'>,
	parts: Pick<RedisViewsParts, 'commands' | 'keys' | 'clock' | 'guard'> & Chosen,
): Promise<WholeReadState> =>
	RedisViews.open({ source, ledger, nowMicros, ...parts }).then((views) => new WholeReadState(views));

export interface ProcessOptions extends Chosen {
	readonly prefix?: string;
	/** How far its clock is ahead of the others'. */
	readonly aheadMicros?: number;
}

export interface ReadStateProcess {
	readonly readState: WholeReadState;
	readonly commands: Commands;
	readonly keys: Keys;
	readonly epochs: Epochs;
	readonly guard: EpochGuard;
	/** Applies effects as a worker does: in Redis, then in the store, together with the cursors that they moved. */
	apply(...effects: Effect[]): Promise<void>;
}

export interface ReadStateWorld {
	readonly store: Store;
	process(options?: ProcessOptions): Promise<ReadStateProcess>;
}

/**
 * Called in a describe block: creates a store for each test, and any number of processes on it and on one Redis, in an epoch that has
 * begun. Closes them after each test.
 */
export function readStateWorlds(
	layout: Layout,
	services: () => Readonly<Record<string, string | undefined>> = () => process.env,
): () => Promise<ReadStateWorld> {
	const closing: (() => unknown)[] = [];
	afterEach(async () => {
		for (const close of closing.splice(0).reverse()) await close();
	});
	return async () => {
		const postgres = await postgresPlace();
		closing.push(() => postgres.remove());
		const store = await postgres.open({ startStamp: null });
		closing.push(() => store.close());
		const place = redisPlace(layout, services());
		const shared = risingClock(nowMicros);
		const begun = new Set<string>();
		const begin = async (options: ProcessOptions = {}): Promise<ReadStateProcess> => {
			const { prefix = place.prefix, aheadMicros = 0, ...chosen } = options;
			const now = () => nowMicros() + aheadMicros;
			const { commands, close } = await connectBoth(place);
			closing.push(close);
			const keys = new Keys(prefix);
			const epochs = new Epochs(commands, prefix);
			const guard = new EpochGuard(epochs);
			if (!begun.has(prefix)) await epochs.begin(() => 1);
			begun.add(prefix);
			const readState = await readStateOn(store, {
				commands,
				keys,
				clock: aheadMicros === 0 ? shared : risingClock(now),
				nowMicros: now,
				guard,
				...chosen,
			});
			const apply = async (...effects: Effect[]) => {
				await readState.apply(effects, (moved) => store.ledger.commit([...effects, ...moved]));
			};
			return { readState, commands, keys, epochs, guard, apply };
		};
		return { store, process: begin };
	};
}
