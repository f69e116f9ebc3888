import pino from 'pino';
import { gatewayEngine, openCluster } from '../../src/app/cluster-engine.ts';
import { readConfig } from '../../src/app/config.ts';
import type { GatewayEngine } from '../../src/app/engine.ts';
import { ServerOperations } from '../../src/app/operations.ts';
import { startWorker } from '../../src/app/worker.ts';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import type { Keys } from '../../src/engine/cluster/redis/keys.ts';
import type { RedisViewsParts } from '../../src/engine/cluster/redis/read-state/redis-views.ts';
import type { EnginePlace, TestedEngine } from '../contract/engines.ts';
import { eventually } from './eventually.ts';
import { kafkaBrokers } from './kafka.ts';
import { gatewayDriver } from './ports-driver.ts';
import { onPostgres, postgresUrl } from './postgres.ts';
import { connectBoth, type Layout, redisPlace, removeKeys } from './redis.ts';

/**
 * The cluster as it ships: a gateway and a worker as `tidemark gateway` and `tidemark worker` compose them, on Kafka,
 * Redis and PostgreSQL. Both run in the test's process, with separate connections and copies. Every `open` after the
 * first one empties Redis before it starts them, so everything is loaded from the store.
 */

export interface ClusterTestEngine extends GatewayEngine {
	/** For tests that read or damage the state in Redis. */
	readonly redis: { readonly commands: Commands; readonly keys: Keys };
}

const log = pino({ level: 'silent' });
const BEGAN = Date.now().toString(36);
const RESTORED_WITHIN_MS = 120_000;
let installations = 0;

type ClusterOptions = Pick<RedisViewsParts, 'keptChanges'>;

export function clusterPlace(layout: Layout, options: ClusterOptions = {}): EnginePlace<ClusterTestEngine> {
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
		return openCluster(config, operations, options).then((cluster) => ({ cluster, operations }));
	};
	let isNew = true;
	return {
		open: async () => {
			if (!isNew) await emptyOwnRedis();
			isNew = false;
			const [worker, gateway] = await Promise.all([openRole('worker'), openRole('gateway')]);
			const running = await startWorker(config, worker.cluster, worker.operations, log);
			const engine = gatewayEngine(gateway.cluster);
			await partitionsClaimed(engine);
			// A gateway rejects requests until the worker has rebuilt an empty Redis.
			await eventually(() => engine.views.available(), RESTORED_WITHIN_MS);
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

	/**
	 * Resolves when both partitions are claimed: claiming one in an empty Redis ends all epochs. An answer shows that its
	 * partition is claimed; 16 conversations cover both.
	 */
	async function partitionsClaimed(engine: GatewayEngine): Promise<void> {
		const { submit } = gatewayDriver(engine);
		const probe = async (conversation: string): Promise<void> => {
			const error = await submit('U000PROBE0', conversation, { type: 'join' }).catch((rejected) => rejected);
			if (error?.code !== 'channel_not_found') throw error;
		};
		await Promise.all(
			Array.from({ length: 16 }, (_, index) =>
				eventually(() => probe(`C000PROBE${index}`), RESTORED_WITHIN_MS),
			),
		);
	}

	async function emptyOwnRedis(): Promise<void> {
		const { commands, close } = await connectBoth(redis);
		await removeKeys(commands, redis.prefix);
		close();
	}
}

export function clusterEngine(layout: Layout, options: ClusterOptions = {}): TestedEngine<ClusterTestEngine> {
	// Throws if there is no Redis, which fails the whole test file.
	redisPlace(layout);
	return {
		name: `cluster, ${layout}`,
		place: async () => clusterPlace(layout, options),
		drive: gatewayDriver,
	};
}
