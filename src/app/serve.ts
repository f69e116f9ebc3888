import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { Conversations, SEND_LOOKUPS_IN_PROCESS } from '../worker/conversations.ts';
import { Worker } from '../worker/worker.ts';
import { type AdminToken, adminTokenOf, keepAdminToken } from './admin-token.ts';
import type { Config } from './config.ts';
import { type Engine, openEmbeddedEngine } from './engine.ts';
import { checkListening } from './failures.ts';
import { fileContents } from './file-contents.ts';
import { type GatewayParts, startGateway } from './gateway.ts';
import { ServerOperations } from './operations.ts';
import { secureFiles } from './private-files.ts';
import { pushes, startPush } from './push.ts';
import { vapidKeyIn } from './vapid-key.ts';

/** Every role in one process, on the embedded engine: the composition of `tidemark serve`. */

export interface Running {
	readonly url: string;
	readonly engine: Engine['name'];
	readonly admin: AdminToken;
	stop(): Promise<void>;
}

const nowMs = (): number => Date.now();
/** For what lasts: it rises whatever the machine's clock is set to. */
const steadyMs = (): number => performance.now();
const EVICT_EVERY_MS = 60_000;

export async function serve(config: Config, log: Logger): Promise<Running> {
	// A port that is taken is no reason to leave a new directory behind. If there is one, name the process that uses it first.
	if (!existsSync(config.dataDir)) checkListening(config.host, config.port);
	const engine = await openEmbeddedEngine(config.dataDir, {
		push: pushes(config, config.webPush === 'on') && 'with devices',
	});
	try {
		return await start(config, await adminTokenOf(config.adminToken, config.dataDir), log, engine);
	} catch (error) {
		await engine.close();
		throw error;
	}
}

async function start(config: Config, admin: AdminToken, log: Logger, engine: Engine): Promise<Running> {
	const operations = new ServerOperations(log, 'server');
	const vapidKey = await vapidKeyIn(config);
	const contents = await fileContents(config);
	const roles = await startRoles({
		config,
		adminToken: admin.token,
		vapidKey,
		log,
		engine,
		contents,
		operations,
	});
	await keepAdminToken(admin, config.dataDir);
	for (const warning of await secureFiles(config.dataDir)) operations.warn(warning);
	return {
		url: roles.url,
		engine: engine.name,
		admin,
		stop: async () => {
			await roles.stop();
			await engine.close();
		},
	};
}

export interface RolesParts extends Omit<GatewayParts, 'workers'> {
	readonly engine: Engine;
}

/** Worker, gateway and push on an engine that is open; `stop` leaves the engine open. */
export async function startRoles(
	parts: RolesParts,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
	const { config, vapidKey, log, engine, operations } = parts;
	const { store, readState, bus, sessions } = engine;
	const conversations = new Conversations(
		store.source,
		store.history,
		steadyMs,
		undefined,
		SEND_LOOKUPS_IN_PROCESS,
	);
	const worker = new Worker({
		log: engine.log,
		conversations,
		readState,
		ledger: store.ledger,
		bus,
		stampOf: engine.stampOf,
		nowMs,
		report: (error, about) =>
			log.error(
				{ err: error, about },
				'The worker failed unexpectedly. This is a bug: please report it with the stack.',
			),
	});
	engine.onSetback((error) => {
		worker.reset();
		operations.setback(error);
	});
	engine.onStoreTrouble((error) =>
		error ? operations.degraded('store', error) : operations.recovered('store'),
	);
	worker.start();
	operations.watchWorker(worker);
	const gateway = await startGateway(parts);
	const push = await startPush({
		config,
		vapidKey,
		store,
		readState,
		sessions,
		operations,
		log,
		alone: true,
	});
	const idleMs = config.idleMinutes * 60_000;
	const eviction = setInterval(() => {
		engine.evict(idleMs);
		conversations.evict(steadyMs() - idleMs, (_, stamp) => stamp <= store.ledger.durable());
	}, EVICT_EVERY_MS);
	return {
		url: gateway.url,
		stop: async () => {
			clearInterval(eviction);
			await gateway.stop();
			await push?.stop();
		},
	};
}
