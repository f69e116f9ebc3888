import { Dispatchers } from '../apps/dispatchers.ts';
import { EventReader } from '../apps/event-reader.ts';
import { httpTransport } from '../apps/http-transport.ts';
import { Outgoing } from '../apps/outgoing.ts';
import { RETRY_RULES, type RetryRules } from '../apps/retries.ts';
import { type BusMessage, EVERY_GATEWAY } from '../engine/ports/bus.ts';
import { AppRequests } from '../gateway/apps/app-requests.ts';
import { AppSockets } from '../gateway/apps/app-sockets.ts';
import type { Config } from './config.ts';
import type { GatewayEngine } from './engine.ts';
import type { ServerOperations } from './operations.ts';
import { nowMs } from './runtime.ts';

/** Composes the parts of a gateway that serve apps: Socket Mode, request URLs and the delivery of events. */

export interface RunningApps {
	readonly sockets: AppSockets;
	readonly requests: AppRequests;
	readonly outgoing: Outgoing;
	/** To be called before the server listens. */
	open(): Promise<void>;
	/** Starts to deliver events. To be called once the server listens: events contain its address. */
	startDelivery(): void;
	/** Stops delivering events and asks apps to reconnect elsewhere; the server closes their sockets. */
	stop(): Promise<void>;
}

const newId = (): string => crypto.randomUUID();
const TIDY_EVERY_MS = 60_000;
const MODALS_KEPT_MICROS = 24 * 3600 * 1e6;

/** `origin` returns the address at which apps reach this server by HTTP. */
export function appsAt(
	engine: GatewayEngine,
	config: Config,
	operations: ServerOperations,
	origin: () => string,
): RunningApps {
	const { store, bus, gateway } = engine;
	const report = (error: unknown): void => operations.failed('apps', error);
	const outgoing = new Outgoing({ fetch, allowsPrivate: config.appPrivateAddresses === 'on' });
	const sockets = new AppSockets({
		apps: store.apps,
		gateway,
		nowMs,
		newId,
		changed: (app) => dispatchers.appChanged(app),
		report,
	});
	const dispatchers = new Dispatchers({
		apps: store.apps,
		reader: new EventReader(store),
		workspaceChanges: store.workspaceChanges,
		directory: store.directory,
		bus,
		holder: gateway,
		sockets: (app) => sockets.transport(app),
		http: httpTransport(outgoing, nowMs, origin),
		// Another gateway that reaches the app takes over its events at once.
		released: (app) => bus.publish(EVERY_GATEWAY, { type: 'app_changed', app }),
		rules: rulesOf(config),
		nowMs,
		report,
		log: (line) => operations.warn(line),
	});
	const receive = (message: BusMessage): void => {
		if (message.type !== 'app_changed') return;
		dispatchers.appChanged(message.app);
		void endRevoked(message.app).catch(report);
	};
	/** Closes the sockets of a deleted app, or those opened with a revoked token. */
	async function endRevoked(app: string): Promise<void> {
		if (!sockets.isOpen(app)) return;
		if (!(await store.apps.app(app))) return sockets.disable(app, null);
		for (const { hash, revokedTs } of await store.apps.tokensOf(app))
			if (revokedTs > 0) sockets.disable(app, hash);
	}
	let tidying: ReturnType<typeof setInterval> | undefined;
	const requests = new AppRequests({
		apps: store.apps,
		sockets,
		bus,
		gateway,
		outgoing,
		origin,
		nowMs,
		newId,
	});
	operations.gauge('app_sockets', 'Open Socket Mode connections of apps', () => sockets.size);
	return {
		sockets,
		requests,
		outgoing,
		open: async () => {
			await sockets.forgetStaleRows();
			bus.subscribe(EVERY_GATEWAY, receive);
		},
		startDelivery: () => {
			dispatchers.start();
			tidying = setInterval(
				() => store.apps.tidy(nowMs(), nowMs() * 1000 - MODALS_KEPT_MICROS).catch(report),
				TIDY_EVERY_MS,
			);
		},
		stop: async () => {
			clearInterval(tidying);
			sockets.announceStop();
			await dispatchers.stop();
			bus.unsubscribe(EVERY_GATEWAY, receive);
			requests.close();
		},
	};
}

const rulesOf = ({ appRetrySeconds }: Config): RetryRules => ({
	...RETRY_RULES,
	giveUpAfterMs: appRetrySeconds * 1000,
	pauseAppAfterMs: appRetrySeconds * 1000,
});
