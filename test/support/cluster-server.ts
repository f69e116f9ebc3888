import type { TestCluster } from './cluster.ts';
import { runScenariosIn, type TestServer } from './server.ts';
import { sharedCluster } from './shared-cluster.ts';

/**
 * Makes the scenarios that are imported afterwards run on a cluster. Test files of a process that use the same flags
 * share one cluster.
 */

/** Events travel over Redis and may arrive after the answer. */
const PATIENCE_MS = 10_000;

export function scenariosOnCluster(): void {
	const start = async (flags: Readonly<Record<string, string>>): Promise<TestServer> => {
		const cluster = await sharedCluster(flags);
		// Other files may use the cluster: it is stopped after the last test file.
		const stop = async () => undefined;
		return { url: cluster.url, dataDir: '', restart: () => replaceGateways(cluster), stop };
	};
	runScenariosIn({ start, engine: 'cluster', patienceMs: PATIENCE_MS });
}

/** As in an upgrade: one gateway after the other; each new process starts before the old one ends. */
async function replaceGateways(cluster: TestCluster): Promise<void> {
	for (const gateway of [...cluster.gateways]) {
		await cluster.add('gateway');
		await cluster.end(gateway, 'SIGTERM');
	}
}
