import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { MemoryPresence } from '../../src/engine/embedded/memory-presence.ts';
import type { Bus } from '../../src/engine/ports/bus.ts';
import type { PresenceStore } from '../../src/engine/ports/presence.ts';
import type { Tickets } from '../../src/engine/ports/tickets.ts';
import { AnonymousLimits } from '../../src/gateway/anonymous-limits.ts';
import type { AppSockets } from '../../src/gateway/apps/app-sockets.ts';
import { FairGate } from '../../src/gateway/fair-gate.ts';
import { MemoryBudget } from '../../src/gateway/memory-budget.ts';
import type { Services } from '../../src/gateway/services.ts';
import { CountsPush } from '../../src/gateway/socket/counts-push.ts';
import { Focus } from '../../src/gateway/socket/focus.ts';
import { Heartbeat } from '../../src/gateway/socket/heartbeat.ts';
import { Hub } from '../../src/gateway/socket/hub.ts';
import { Presence } from '../../src/gateway/socket/presence.ts';
import { listen } from '../../src/gateway/socket/server.ts';
import type { ReadState } from '../../src/unread/read-state.ts';
import type { SyncResult } from '../../src/unread/sync.ts';

/** A listening gateway with as few services as possible, for tests of sockets and gateways alone. */

export interface Behind {
	readonly gateway?: string;
	readonly tickets: Tickets;
	readonly bus?: Bus;
	readonly presence?: PresenceStore;
	/** The conversations of the users. */
	readonly memberships?: () => Promise<{ readonly conversation: string }[]>;
	readonly missed?: () => Promise<SyncResult>;
	readonly newestChange?: () => Promise<number | null>;
	readonly threadTotals?: () => ReturnType<ReadState['threadTotals']>;
}

/** For a client that has missed no events. */
export const NOTHING_MISSED: SyncResult = {
	events: [],
	frames: [],
	inside: [],
	position: 0,
	completeUpTo: 0,
	recount: [],
	recountThreads: false,
};

export function listeningGateway({
	gateway = 'g1',
	tickets,
	bus = new MemoryBus(),
	presence: presenceStore = new MemoryPresence(),
	memberships = async () => [],
	missed = async () => NOTHING_MISSED,
	newestChange = async () => null,
	threadTotals,
}: Behind) {
	const failures: string[] = [];
	const readState = { memberships, threadTotals } as unknown as ReadState;
	const failed = (error: unknown) => console.error(error);
	const hub = new Hub(bus, new CountsPush(readState, failed), { newestChange, missed, failed });
	const services = {
		tickets,
		bus,
		readState,
		sync: { missed },
		directory: { token: async () => null },
		auth: { isStillValid: async () => true },
		limits: { take: () => 0, takeMore: () => 0 },
		anonymousLimits: new AnonymousLimits({ perSecond: 0, burst: 0 }, Date.now),
		bodyMemory: new MemoryBudget({ totalBytes: 1 << 20, shareBytes: 1 << 20, nowMs: Date.now }),
		answerMemory: new MemoryBudget({ totalBytes: 1 << 20, shareBytes: 1 << 20, nowMs: Date.now }),
		largeReads: new FairGate(1),
		operations: { failed: (what: string) => failures.push(what) },
	} as unknown as Services;
	const presence = new Presence(bus, presenceStore, { setActive: async () => undefined });
	const heartbeat = new Heartbeat({
		eachConnection: (visit) => hub.eachConnection(visit),
		timeoutMs: 30_000,
	});
	const focus = new Focus({
		bus,
		marking: services.marking,
		isActive: async () => false,
		isListening: () => true,
		onceSent: (_, work) => work(),
		ping: (connection) => heartbeat.ping(connection),
		nowMs: Date.now,
		idleMs: 1_000,
		failed,
	});
	const listening = listen(
		{
			hostname: '127.0.0.1',
			port: 0,
			gateway,
			maxBufferedBytes: 1 << 20,
			maxTotalBufferedBytes: 1 << 26,
			socketsPerUser: 100,
			socketsPerAddress: 100,
			trustedProxies: [],
			nowMs: Date.now,
		},
		// No app connects here.
		{ services, hub, presence, focus, heartbeat, appSockets: { stop: async () => undefined } as AppSockets },
	);
	return { hub, failures, port: listening.port, stop: () => listening.stop() };
}
