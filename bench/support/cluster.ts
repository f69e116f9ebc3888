import { openPostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import { Dataset } from './dataset.ts';
import { firstLineWith } from './lines.ts';
import { TIDEMARK } from './paths.ts';
import type { Bench } from './scenario.ts';
import { ADMIN_TOKEN, type BenchServer, end, FLAGS } from './server.ts';
import { benchServices } from './services.ts';

/** One gateway and one worker on services of their own, which `scripts/services` starts and removes. */

export const INSTALLATION = 'bench';
const PARTITIONS = 8;

export const CLUSTER_IN_WORDS = `one \`tidemark gateway\` and one \`tidemark worker\`, ${PARTITIONS} partitions; Redis, PostgreSQL with fsync, Kafka with one broker, all on this machine`;

/** Process ids. */
export interface ClusterRoles {
	readonly gateway: number;
	readonly worker: number;
}

export interface BenchCluster {
	readonly redisUrl: string;
	readonly postgresUrl: string;
	readonly kafkaBrokers: string;
	/** Fills the database, before the cluster is started. */
	fill(work: (dataset: Dataset) => Promise<void>): Promise<void>;
	start(): Promise<Pick<BenchServer, 'port' | 'pids' | 'url' | 'stop'> & { readonly roles: ClusterRoles }>;
}

export async function benchCluster(bench: Bench): Promise<BenchCluster> {
	const addressOf = await benchServices(bench, 'redis', 'postgres', 'kafka');
	const url = addressOf('TIDEMARK_TEST_POSTGRES_URL');
	const env = {
		...process.env,
		TIDEMARK_REDIS_URL: addressOf('TIDEMARK_TEST_REDIS_URL'),
		TIDEMARK_POSTGRES_URL: url,
		TIDEMARK_KAFKA_BROKERS: addressOf('TIDEMARK_TEST_KAFKA_BROKERS'),
		TIDEMARK_KAFKA_REPLICATION: '1',
		TIDEMARK_KAFKA_PARTITIONS: String(PARTITIONS),
		TIDEMARK_INSTALLATION: INSTALLATION,
		TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN,
	};
	const role = async (name: 'gateway' | 'worker') => {
		const child = Bun.spawn([TIDEMARK, name, '--host=127.0.0.1', '--port=0', ...FLAGS], {
			env,
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		bench.atEnd(() => end(child, 'SIGKILL'));
		const line = await firstLineWith(child.stdout, 'of the cluster');
		return { child, port: Number(/http:\/\/[^:]+:(\d+)/.exec(line)?.[1]) };
	};
	return {
		redisUrl: env.TIDEMARK_REDIS_URL,
		postgresUrl: url,
		kafkaBrokers: env.TIDEMARK_KAFKA_BROKERS,
		fill: async (work) => {
			const store = await openPostgresStore({ url, schema: INSTALLATION, startStamp: null });
			await work(await Dataset.in(store));
			await store.close();
		},
		start: async () => {
			const [worker, gateway] = await Promise.all([role('worker'), role('gateway')]);
			return {
				port: gateway.port,
				url: `http://127.0.0.1:${gateway.port}`,
				pids: [worker.child.pid, gateway.child.pid],
				roles: { gateway: gateway.child.pid, worker: worker.child.pid },
				stop: async () => {
					await end(gateway.child, 'SIGTERM');
					await end(worker.child, 'SIGTERM');
				},
			};
		},
	};
}
