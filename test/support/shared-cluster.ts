import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './at-end.ts';
import { startCluster, type TestCluster } from './cluster.ts';
import { JWT_SECRET } from './server.ts';

/**
 * One cluster of two gateways and two workers for all test files of a process that need the same flags: a start costs
 * more than most of these tests. A file uses its own workspaces. It may replace gateways and workers, but must leave two
 * of each; a file that breaks anything else starts its own cluster.
 */

const clusters = new Map<string, Promise<TestCluster>>();
/** Every shared cluster has these flags, so that files that need them and files that do not can share a cluster. */
const COMMON_FLAGS: Readonly<Record<string, string>> = { 'jwt-secret': JWT_SECRET };
const OF_EACH_ROLE = 2;

export function sharedCluster(flags: Readonly<Record<string, string>> = {}): Promise<TestCluster> {
	const all = Object.entries({ ...COMMON_FLAGS, ...flags }).flatMap(([name, value]) => [`--${name}`, value]);
	const key = all.join(' ');
	const sharing = usable(clusters.get(key)).then((known) => known ?? begin(all));
	clusters.set(key, sharing);
	return sharing;
}

/** Undefined if none was started, or if a failed test left it incomplete. */
async function usable(sharing: Promise<TestCluster> | undefined): Promise<TestCluster | undefined> {
	const cluster = await sharing?.catch(() => undefined);
	if (!cluster) return undefined;
	const { gateways, workers } = cluster;
	const answer = await Promise.all(
		[...gateways, ...workers].map(({ url }) => fetch(`${url}/healthz`).catch(() => undefined)),
	);
	const isWhole = gateways.length === OF_EACH_ROLE && workers.length === OF_EACH_ROLE;
	if (isWhole && answer.every((one) => one?.ok)) return cluster;
	await cluster.stop();
	return undefined;
}

async function begin(flags: readonly string[]): Promise<TestCluster> {
	const files = await mkdtemp(join(tmpdir(), 'tidemark-files-'));
	const cluster = await startCluster({ flags: [...flags, '--files-dir', files] });
	atEnd(async () => {
		await cluster.stop();
		await rm(files, { recursive: true, force: true });
	});
	return cluster;
}
