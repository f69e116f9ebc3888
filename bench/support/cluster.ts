import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import { Dataset } from './dataset.ts';
import { firstLineWith } from './lines.ts';
import { ROOT, TIDEMARK } from './paths.ts';
import type { Bench } from './scenario.ts';
import { ADMIN_TOKEN, type BenchServer, end, FLAGS } from './server.ts';

/** One gateway and one worker on services of their own, which `scripts/services` starts and removes. */

const INSTALLATION = 'bench';

export interface BenchCluster {
	/** Fills the database, before the cluster is started. */
	fill(work: (dataset: Dataset) => Promise<void>): Promise<void>;
	start(): Promise<Pick<BenchServer, 'port' | 'pids' | 'url' | 'stop'>>;
}

export async function benchCluster(bench: Bench): Promise<BenchCluster> {
	// Not below the repository: PostgreSQL's own user has to get there.
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-services-bench-'));
	const services = async (...args: readonly string[]): Promise<string> => {
		const child = Bun.spawn([join(ROOT, 'scripts', 'services'), ...args], {
			env: { ...process.env, TIDEMARK_SERVICES_DIR: directory, TIDEMARK_SERVICES_OWNER: String(process.pid) },
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		const told = await new Response(child.stdout).text();
		if ((await child.exited) !== 0) throw new Error(`scripts/services ${args.join(' ')} failed`);
		return told;
	};
	bench.progress('starting Redis, PostgreSQL and Kafka');
	bench.atEnd(() => services('down'));
	const told = await services('up', 'redis', 'postgres', 'kafka');
	const addressOf = (name: string): string => {
		const found = new RegExp(`^${name}=(.*)$`, 'm').exec(told)?.[1];
		if (found === undefined) throw new Error(`scripts/services did not tell ${name}`);
		return found;
	};
	const url = addressOf('TIDEMARK_TEST_POSTGRES_URL');
	const env = {
		...process.env,
		TIDEMARK_REDIS_URL: addressOf('TIDEMARK_TEST_REDIS_URL'),
		TIDEMARK_POSTGRES_URL: url,
		TIDEMARK_KAFKA_BROKERS: addressOf('TIDEMARK_TEST_KAFKA_BROKERS'),
		TIDEMARK_KAFKA_REPLICATION: '1',
		TIDEMARK_KAFKA_PARTITIONS: '8',
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
				stop: async () => {
					await end(gateway.child, 'SIGTERM');
					await end(worker.child, 'SIGTERM');
				},
			};
		},
	};
}
