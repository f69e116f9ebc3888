// The target of `npm run fuzz`: one server, or a gateway of a cluster, with default limits and an optional memory limit.

import { type LimitedMemory, limitMemory } from '../test/support/abuse/memory-limit.ts';
import { startCluster } from '../test/support/cluster.ts';
import { serveProcess, type TidemarkProcess, withDirectory } from '../test/support/process.ts';
import { ADMIN_TOKEN } from '../test/support/server.ts';
import { ownServices } from '../test/support/services.ts';
import type { FuzzOptions } from './fuzz-options.ts';

export interface Target {
	readonly url: string;
	/** Peak memory of the cgroup in MB, as the kernel counts it; null without a cgroup. */
	readonly cgroupPeakMb: () => number | null;
}

/** How long after a failed call it takes to find out that the process has ended. */
const EXIT_DETECTION_MS = 1_000;

type Attack = (target: Target) => Promise<void>;

export async function withTarget(options: FuzzOptions, attack: Attack): Promise<void> {
	const memory = options.memoryMb === 0 ? null : limitMemory(options.memoryMb);
	const attackOn = async (target: Omit<Target, 'cgroupPeakMb'>, processes: readonly TidemarkProcess[]) => {
		const death = Promise.race(processes.map(({ ended }) => ended)).then(({ code, signal, err }) =>
			throwServerEnded(memory, code ?? signal, err),
		);
		const attacked = attack({ ...target, cgroupPeakMb: () => memory?.counted().peakMb ?? null });
		// If a call fails because the server ended, report that the server ended.
		const failed = attacked.catch((error: unknown) =>
			Bun.sleep(EXIT_DETECTION_MS).then(() => Promise.reject(error)),
		);
		await Promise.race([failed, death]);
	};
	try {
		await (options.cluster ? cluster : single)(options, memory, attackOn);
	} finally {
		memory?.remove();
	}
}

type AttackOn = (
	target: Omit<Target, 'cgroupPeakMb'>,
	processes: readonly TidemarkProcess[],
) => Promise<void>;

function throwServerEnded(memory: LimitedMemory | null, how: number | string | null, err: string): never {
	const killed =
		(memory?.counted().kills ?? 0) > 0 ? ' The kernel killed it because of its memory limit.' : '';
	throw new Error(`the server ended with ${how} during the attacks.${killed} ${err.slice(-2_000)}`);
}

const single = (options: FuzzOptions, memory: LimitedMemory | null, attack: AttackOn): Promise<void> =>
	withDirectory(async (directory) => {
		const server = await serveProcess(directory, ['--admin-token', ADMIN_TOKEN], {
			within: memory?.within ?? [],
			environment: heapFor(options),
		});
		await attack({ url: server.url }, [server]);
		const { code, err } = await server.end('SIGTERM');
		if (code !== 0) throw new Error(`the server ended with ${code}: ${err.slice(-2_000)}`);
	});

async function cluster(options: FuzzOptions, memory: LimitedMemory | null, attack: AttackOn): Promise<void> {
	const services = await ownServices('postgres', 'redis', 'kafka');
	try {
		const { env } = services;
		const running = await startCluster({
			services: { ...env, TIDEMARK_TEST_REDIS_CLUSTER_URL: env.TIDEMARK_TEST_REDIS_URL },
			workers: 1,
			limits: 'default',
			gatewayWithin: memory?.within ?? [],
			environment: heapFor(options),
		});
		try {
			const [gateway] = running.gateways;
			if (gateway === undefined) throw new Error('no gateway');
			await attack({ url: gateway.url }, [...running.gateways, ...running.workers]);
		} finally {
			await running.stop();
		}
	} finally {
		await services.down();
	}
}

/** Bun sizes its heap by the cgroup. Without a cgroup it would use the machine's memory, so the size is set here. */
const heapFor = ({ memoryMb, mostMb }: FuzzOptions): Record<string, string> =>
	memoryMb === 0 ? { BUN_JSC_forceRAMSize: `${mostMb * 1024 * 1024}` } : {};
