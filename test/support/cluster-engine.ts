import pino from 'pino';
import { gatewayEngine, openCluster } from '../../src/app/cluster-engine.ts';
import { readConfig } from '../../src/app/config.ts';
import type { GatewayEngine } from '../../src/app/engine.ts';
import { ServerOperations } from '../../src/app/operations.ts';
import { startWorker } from '../../src/app/worker.ts';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import type { Keys } from '../../src/engine/cluster/redis/keys.ts';
import type { Keeping } from '../../src/engine/cluster/redis/read-state/loading.ts';
import type { EnginePlace, TestedEngine } from '../contract/engines.ts';
import { eventually } from './eventually.ts';
import { kafkaBrokers } from './kafka.ts';
import { gatewayDriver } from './ports-driver.ts';
import { onPostgres, postgresUrl } from './postgres.ts';
import { connectBoth, emptyRedis, type Layout, redisPlace } from './redis.ts';

/**
 * The cluster as it ships: a gateway and a worker as `tidemark gateway` and `tidemark worker` compose them, on Kafka, Redis and
 * PostgreSQL. Both are in the test's process, each with connections and copies of its own. Opened again, it finds an empty Redis, so
 * everything is restored from the store.
 */

export interface ClusterTestEngine extends GatewayEngine {
	/** For tests that look at, or damage, what is in Redis. */
	readonly redis: { readonly commands: Commands; readonly keys: Keys };
}

const log = pino({ level: 'silent' });
const BEGAN = Date.now().toString(36);
const RESTORED_WITHIN_MS = 120_000;
let installations = 0;

export function clusterPlace(layout: Layout, keeping: Keeping = {}): EnginePlace<ClusterTestEngine> {
	installations += 1;
	const installation = `e${process.pid}_${BEGAN}_${installations}`;
	const redis = { ...redisPlace(layout), prefix: `${installation}:` };
	const config = readConfig(
		{},
		{
			TIDEMARK_INSTALLATION: installation,
			TIDEMARK_REDIS_URL: redis.url,
			TIDEMARK_POSTGRES_URL: postgresUrl(),
			TIDEMARK_KAFKA_BROKERS: kafkaBrokers().join(),
			TIDEMARK_KAFKA_PARTITIONS: '2',
			TIDEMARK_KAFKA_REPLICATION: '1',
		},
	);
	const openRole = (role: 'gateway' | 'worker') => {
		const operations = new ServerOperations(log, role);
		return openCluster(config, operations, { keeping }).then((cluster) => ({ cluster, operations }));
	};
	let isNew = true;
	return {
		open: async () => {
			if (!isNew) await emptied();
			isNew = false;
			const [worker, gateway] = await Promise.all([openRole('worker'), openRole('gateway')]);
			const running = await startWorker(config, worker.cluster, worker.operations, log);
			const engine = gatewayEngine(gateway.cluster, { onPresence: async () => undefined });
			// A gateway rejects questions until the worker has restored an empty Redis.
			await eventually(RESTORED_WITHIN_MS, () => engine.readState.available());
			const { commands, keys } = gateway.cluster;
			return {
				...engine,
				redis: { commands, keys },
				close: async () => {
					await engine.close();
					await gateway.cluster.close();
					await running.stop();
					await worker.cluster.close();
				},
			};
		},
		remove: async () => void (await onPostgres(`DROP SCHEMA IF EXISTS ${installation} CASCADE`)),
	};

	async function emptied(): Promise<void> {
		const { commands, close } = await connectBoth(redis);
		await emptyRedis(commands, redis.prefix);
		close();
	}
}

export function clusterEngine(layout: Layout, keeping: Keeping = {}): TestedEngine<ClusterTestEngine> {
	// A service that is missing fails the file as a whole.
	redisPlace(layout);
	return {
		name: `cluster, ${layout}`,
		place: async () => clusterPlace(layout, keeping),
		drive: gatewayDriver,
	};
}
