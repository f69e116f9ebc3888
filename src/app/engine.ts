import { MemoryBus } from '../engine/embedded/memory-bus.ts';
import { MemoryLog } from '../engine/embedded/memory-log.ts';
import { MemoryPresence } from '../engine/embedded/memory-presence.ts';
import { MemoryTickets } from '../engine/embedded/memory-tickets.ts';
import { MemoryViews } from '../engine/embedded/read-state/memory-views.ts';
import { Residents } from '../engine/embedded/read-state/residents.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../engine/embedded/sqlite/open.ts';
import type { Bus } from '../engine/ports/bus.ts';
import type { CommandLog } from '../engine/ports/log.ts';
import type { PresenceStore } from '../engine/ports/presence.ts';
import type { Directory, Store } from '../engine/ports/store.ts';
import type { Tickets } from '../engine/ports/tickets.ts';
import type { Views } from '../engine/ports/views.ts';
import { ReadState } from '../unread/read-state.ts';
import { nowMs, random, steadyMs } from './runtime.ts';
import { type StampClock, stampClock } from './stamp-clock.ts';

/** The ports that a gateway needs; both engines implement them. */
export interface GatewayEngine {
	readonly name: 'embedded' | 'cluster';
	readonly store: Store;
	/** The store as it is now: reads do not wait for effects that are not persisted yet. */
	readonly persistedDirectory: Pick<Directory, 'conversations' | 'members'>;
	readonly views: Views;
	readonly readState: ReadState;
	readonly presence: PresenceStore;
	readonly bus: Bus;
	readonly log: CommandLog;
	readonly tickets: Tickets;
	readonly clock: StampClock;
	/** Id of this process among the gateways. */
	readonly gateway: string;
	/**
	 * Called when a user's activity changed without a call of this gateway: connections of a dead gateway were
	 * removed, or connections of this gateway were registered again.
	 */
	onPresence(listener: (user: string) => Promise<void>): void;
	close(): Promise<void>;
}

/** An engine whose worker runs in the same process. */
export interface Engine extends GatewayEngine {
	/** Called when decided effects could not be persisted. */
	onCommitFailure(listener: (error: Error) => void): void;
	/** Called with an error when the store's files were replaced or removed, and with null when they are back. */
	onStoreTrouble(listener: (error: Error | null) => void): void;
	/** Evicts views that were unused for this long. */
	evict(idleMs: number): void;
}

/** The engine of a single process: memory and SQLite files in one directory. */
export const openEmbeddedEngine = (
	dataDir: string,
	options: Pick<SqliteStoreOptions, 'push'> = {},
): Promise<Engine> => embeddedEngineOn((hooks) => openSqliteStore(dataDir, { ...options, ...hooks }));

export type StoreHooks = Required<Pick<SqliteStoreOptions, 'onCommitFailure' | 'onTrouble'>>;

/** The embedded engine on any store; tests pass `uptimeSeconds` in place of the machine's. */
export async function embeddedEngineOn(
	open: (hooks: StoreHooks) => Promise<Store>,
	uptimeSeconds?: () => number,
): Promise<Engine> {
	const listeners: ((error: Error) => void)[] = [];
	const troubleListeners: ((error: Error | null) => void)[] = [];
	const store = await open({
		onCommitFailure: (error) => {
			residents.clear();
			for (const listener of listeners) listener(error);
		},
		onTrouble: (error) => {
			for (const listener of troubleListeners) listener(error);
		},
	});
	const clock = stampClock(await store.newestStamp(), uptimeSeconds);
	const residents = new Residents(store.source, store.ledger, steadyMs);
	await residents.open();
	const views = new MemoryViews(residents, store.ledger, clock);
	return {
		name: 'embedded',
		store,
		persistedDirectory: store.directory,
		views,
		readState: new ReadState(views),
		presence: new MemoryPresence(),
		bus: new MemoryBus(),
		log: new MemoryLog(),
		tickets: new MemoryTickets(nowMs, random),
		clock,
		gateway: 'local',
		// There is no other gateway.
		onPresence: () => undefined,
		onCommitFailure: (listener) => {
			listeners.push(listener);
		},
		onStoreTrouble: (listener) => {
			troubleListeners.push(listener);
		},
		evict: (idleMs) => residents.evict(steadyMs() - idleMs),
		close: () => store.close(),
	};
}
