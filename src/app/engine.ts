import { MemoryBus } from '../engine/embedded/memory-bus.ts';
import { MemoryLog } from '../engine/embedded/memory-log.ts';
import { MemorySessions } from '../engine/embedded/memory-sessions.ts';
import { MemoryTickets } from '../engine/embedded/memory-tickets.ts';
import { MemoryViews } from '../engine/embedded/read-state/memory-views.ts';
import { Residents } from '../engine/embedded/read-state/residents.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../engine/embedded/sqlite/open.ts';
import type { Bus } from '../engine/ports/bus.ts';
import type { CommandLog } from '../engine/ports/log.ts';
import type { Sessions } from '../engine/ports/sessions.ts';
import type { Directory, Store } from '../engine/ports/store.ts';
import type { Tickets } from '../engine/ports/tickets.ts';
import type { RandomBytes } from '../model/ids.ts';
import { ReadState } from '../unread/read-state.ts';
import { type StampClock, stampClock } from './stamp-clock.ts';

/** What a gateway runs on: every port that it needs. */
export interface GatewayEngine {
	readonly name: 'embedded' | 'cluster';
	readonly store: Store;
	/** As the store has it at this moment: nobody waits for what is on its way there. */
	readonly written: Pick<Directory, 'conversations' | 'members'>;
	readonly readState: ReadState;
	readonly sessions: Sessions;
	readonly bus: Bus;
	readonly log: CommandLog;
	readonly tickets: Tickets;
	readonly clock: StampClock;
	/** This process among the gateways. */
	readonly gateway: string;
	close(): Promise<void>;
}

/** An engine whose worker runs in the same process. */
export interface Engine extends GatewayEngine {
	/** Called when what was decided could not be stored. */
	onSetback(listener: (error: Error) => void): void;
	/** Called when the files of the store are no longer those that were opened, and (null) when they are again. */
	onStoreTrouble(listener: (error: Error | null) => void): void;
	/** Evicts what was unused for this long. */
	evict(idleMs: number): void;
}

const nowMs = (): number => performance.now();
const random: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

/** Everything in this process, everything kept in one directory. */
export const openEmbeddedEngine = (
	dataDir: string,
	options: Pick<SqliteStoreOptions, 'push'> = {},
): Promise<Engine> => embeddedEngineOn((hooks) => openSqliteStore(dataDir, { ...options, ...hooks }));

export type StoreHooks = Required<Pick<SqliteStoreOptions, 'onCommitFailure' | 'onTrouble'>>;

/** The same on any store of one process; `uptimeSeconds` of the machine. */
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
	const residents = new Residents(store.source, store.ledger, nowMs);
	await residents.open();
	return {
		name: 'embedded',
		store,
		written: store.directory,
		readState: new ReadState(new MemoryViews(residents, store.ledger, clock)),
		sessions: new MemorySessions(),
		bus: new MemoryBus(),
		log: new MemoryLog(),
		tickets: new MemoryTickets(() => Date.now(), random),
		clock,
		gateway: 'local',
		onSetback: (listener) => {
			listeners.push(listener);
		},
		onStoreTrouble: (listener) => {
			troubleListeners.push(listener);
		},
		evict: (idleMs) => residents.evict(nowMs() - idleMs),
		close: () => store.close(),
	};
}
