import type { Logger } from 'pino';
import { missingAddresses } from './cluster-addresses.ts';
import { type Cluster, gatewayEngine, openCluster } from './cluster-engine.ts';
import { type Config, ConfigError } from './config.ts';
import { sharedContents } from './file-contents.ts';
import { startGateway } from './gateway.ts';
import { shownUrl } from './listen-address.ts';
import { ServerOperations } from './operations.ts';
import { OwnersWatch } from './owners-watch.ts';
import { ServiceWatch } from './service-watch.ts';
import { CannotListen } from './start-failures.ts';
import { configuredVapidKey } from './vapid-key.ts';
import { startWorker } from './worker.ts';

/** The compositions of `tidemark gateway` and `tidemark worker`, the roles of a cluster. */

export interface RunningRole {
	readonly url: string;
	stop(): Promise<void>;
}

export async function runGateway(config: Config, log: Logger): Promise<RunningRole> {
	const { adminToken } = config;
	if (adminToken === null)
		throw new ConfigError([
			'TIDEMARK_ADMIN_TOKEN is missing: set the same token on all gateways of the cluster',
			...missingAddresses(config),
		]);
	const operations = new ServerOperations(log, 'gateway');
	const contents = await sharedContents(config);
	if (contents === null && config.fileMaxMb > 0)
		log.info(
			'Files are disabled: set TIDEMARK_S3_BUCKET, or TIDEMARK_FILES_DIR to a directory that all gateways share',
		);
	const vapidKey = configuredVapidKey(config);
	if (vapidKey === null && config.webPush === 'on')
		log.info(
			'Web Push is disabled: to enable it, set the same TIDEMARK_VAPID_PRIVATE_KEY on all gateways and workers',
		);
	return onCluster(config, operations, async (cluster) => {
		const engine = gatewayEngine(cluster);
		const workers = new ServiceWatch('worker', operations);
		const gateway = await startGateway({
			config,
			adminToken,
			vapidKey,
			log,
			engine,
			contents,
			operations,
			workers,
		});
		const owners = new OwnersWatch({
			partitions: cluster.logs.partitions.conversations,
			unowned: () => cluster.logs.unowned(),
			workers,
			operations,
		});
		owners.start();
		cluster.onGap(() => void gateway.resetForGap());
		return {
			url: gateway.url,
			stop: async () => {
				owners.stop();
				await gateway.stop();
				await engine.close();
			},
		};
	});
}

export async function runWorker(config: Config, log: Logger): Promise<RunningRole> {
	const operations = new ServerOperations(log, 'worker');
	return onCluster(config, operations, async (cluster) => {
		// Serve /readyz before the worker starts, so that it reports why the start takes long: if Redis is empty, the
		// worker waits until Kafka can be read and PostgreSQL has all marks of the log.
		operations.starting();
		const operationsServer = serveOperations(config, operations);
		try {
			const worker = await startWorker(config, cluster, operations, log);
			operations.started();
			return {
				url: operationsServer.url,
				stop: async () => {
					operations.stopping();
					await worker.stop();
					await operationsServer.stop();
				},
			};
		} catch (error) {
			await operationsServer.stop();
			throw error;
		}
	});
}

async function onCluster(
	config: Config,
	operations: ServerOperations,
	start: (cluster: Cluster) => Promise<RunningRole>,
): Promise<RunningRole> {
	const cluster = await openCluster(config, operations);
	try {
		const { url, stop } = await start(cluster);
		return {
			url,
			stop: async () => {
				await stop();
				await cluster.close();
			},
		};
	} catch (error) {
		await cluster.close();
		throw error;
	}
}

/** Workers serve health and metrics only. */
function serveOperations({ host, port }: Config, operations: ServerOperations): RunningRole {
	try {
		const server = Bun.serve({
			hostname: host,
			port,
			development: false,
			routes: {
				'/healthz': () => operations.health(),
				'/readyz': () => operations.ready(),
				'/metrics': () => operations.metrics(),
			},
			fetch: () => new Response('Workers serve only /healthz, /readyz and /metrics\n', { status: 404 }),
		});
		return { url: shownUrl(host, server.port ?? port), stop: () => server.stop(true) };
	} catch (error) {
		throw new CannotListen(host, port, error);
	}
}
