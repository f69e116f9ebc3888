import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { type AdminToken, adminTokenOf, saveAdminToken } from './admin-token.ts';
import type { Config } from './config.ts';
import { type Engine, openEmbeddedEngine } from './engine.ts';
import { fileContents } from './file-contents.ts';
import { type GatewayParts, startGateway } from './gateway.ts';
import { ServerOperations } from './operations.ts';
import { secureFiles } from './private-files.ts';
import { isPushConfigured, startPush } from './push.ts';
import { startSolePartition } from './sole-partition.ts';
import { checkListening } from './start-failures.ts';
import { vapidKeyIn } from './vapid-key.ts';

/** The composition of `tidemark serve`: every role in one process, on the embedded engine. */

export interface Running {
	readonly url: string;
	readonly engine: Engine['name'];
	readonly admin: AdminToken;
	stop(): Promise<void>;
}

const EVICT_EVERY_MS = 60_000;

export async function serve(config: Config, log: Logger): Promise<Running> {
	// Check the port before creating a new data directory. If the directory exists, it is opened first: the error then names the process
	// that uses it.
	if (!existsSync(config.dataDir)) checkListening(config.host, config.port);
	const engine = await openEmbeddedEngine(config.dataDir, {
		push: isPushConfigured(config, config.webPush === 'on') && 'with devices',
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
	await saveAdminToken(admin, config.dataDir);
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

/** Starts worker, gateway and push on an open engine; `stop` does not close the engine. */
export async function startRoles(
	parts: RolesParts,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
	const { config, vapidKey, log, engine, operations } = parts;
	const { store, readState, presence } = engine;
	const partition = startSolePartition(engine, {
		report: (error, about) =>
			log.error(
				{ err: error, about },
				'The worker failed unexpectedly. This is a bug: please report it with the stack.',
			),
	});
	engine.onCommitFailure((error) => operations.commitFailed(error));
	engine.onStoreTrouble((error) =>
		error ? operations.degraded('store', error) : operations.recovered('store'),
	);
	operations.watchWorker(partition);
	const gateway = await startGateway(parts);
	// No other process uses the store: existing leases belong to a process that has ended.
	if (isPushConfigured(config, vapidKey !== null)) await store.push.outbox.releaseAll(Date.now());
	const push = await startPush({
		config,
		vapidKey,
		store,
		readState,
		presence,
		operations,
		log,
	});
	const idleMs = config.idleMinutes * 60_000;
	const eviction = setInterval(() => {
		engine.evict(idleMs);
		partition.evict(performance.now() - idleMs);
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
