import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, type TestCluster } from './cluster.ts';
import { runScenariosIn, type TestServer } from './server.ts';

/** Has the scenarios that are imported afterwards run on a cluster, one for all of them that want the same flags. */

/** Events travel over Redis, and an answer may be faster. */
const PATIENCE_MS = 10_000;

export function scenariosOnCluster(): void {
	const clusters = new Map<string, Promise<TestCluster>>();
	/** Shared by its gateways. */
	const files = mkdtempSync(join(tmpdir(), 'tidemark-files-'));
	const start = async (flags: Readonly<Record<string, string>>): Promise<TestServer> => {
		const asFlags = Object.entries({ 'files-dir': files, ...flags }).flatMap(([name, value]) => [
			`--${name}`,
			value,
		]);
		const key = asFlags.join(' ');
		const starting = clusters.get(key) ?? startCluster({ flags: asFlags });
		clusters.set(key, starting);
		const cluster = await starting;
		// Others may use it: it ends with the file.
		const stop = async () => undefined;
		return { url: cluster.url, dataDir: '', restart: () => replaceGateways(cluster), stop };
	};
	runScenariosIn({ start, engine: 'cluster', patienceMs: PATIENCE_MS });
	afterAll(async () => {
		for (const cluster of clusters.values()) await (await cluster).stop();
		rmSync(files, { recursive: true, force: true });
	}, 60_000);
}

/** As an upgrade does it: one after the other, the new one first. */
async function replaceGateways(cluster: TestCluster): Promise<void> {
	for (const gateway of [...cluster.gateways]) {
		await cluster.add('gateway');
		await cluster.end(gateway, 'SIGTERM');
	}
}
