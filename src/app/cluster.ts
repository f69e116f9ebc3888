import type { Logger } from 'pino';
import { type ClusterEngine, openClusterEngine } from './cluster-engine.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config.ts';
import { CannotListen } from './failures.ts';
import { type RunningGateway, shownHost, startGateway } from './gateway.ts';
import { ServerOperations } from './operations.ts';
import { type RunningWorker, startWorker } from './worker.ts';

/** Roles of a cluster: the compositions of `tidemark gateway` and `tidemark worker`. */

export interface RunningRole {
	readonly url: string;
	stop(): Promise<void>;
}

export async function runGateway(config: Config, log: Logger): Promise<RunningRole> {
	const { adminToken } = config;
	if (adminToken === null)
		throw new ConfigError(['TIDEMARK_ADMIN_TOKEN is missing: all gateways of a cluster need the same one']);
	const operations = new ServerOperations(log);
	return onEngine(config, operations, async (engine) => {
		const gateway = await startGateway({ config, adminToken, log, engine, operations });
		engine.onGap(() => void gateway.beginAnew());
		return gateway;
	});
}

export async function runWorker(config: Config, log: Logger): Promise<RunningRole> {
	const operations = new ServerOperations(log);
	return onEngine(config, operations, async (engine) => {
		const worker = await startWorker(config, engine, operations, log);
		const told = tellOperations(config, operations);
		return {
			url: told.url,
			stop: async () => {
				operations.stop();
				await worker.stop();
				await told.stop();
			},
		};
	});
}

async function onEngine(
	config: Config,
	operations: ServerOperations,
	start: (engine: ClusterEngine) => Promise<Pick<RunningGateway, 'url'> & RunningWorker>,
): Promise<RunningRole> {
	const engine = await openClusterEngine(config, operations);
	try {
		const { url, stop } = await start(engine);
		return {
			url,
			stop: async () => {
				await stop();
				await engine.close();
			},
		};
	} catch (error) {
		await engine.close();
		throw error;
	}
}

/** A worker takes no requests but those of whoever operates it. */
function tellOperations({ host, port }: Config, operations: ServerOperations): RunningRole {
	try {
		const server = Bun.serve({
			hostname: host,
			port,
			routes: {
				'/healthz': () => operations.health(),
				'/readyz': () => operations.ready(),
				'/metrics': () => operations.metrics(),
			},
			fetch: () => new Response('a worker tells /healthz, /readyz and /metrics\n', { status: 404 }),
		});
		return { url: `http://${shownHost(host)}:${server.port}`, stop: () => server.stop(true) };
	} catch (error) {
		throw new CannotListen(host, port, error);
	}
}
