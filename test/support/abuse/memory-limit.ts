import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A memory limit that the kernel enforces, as in a container: a cgroup below that of this process. The kernel kills a
 * process that exceeds the limit. Only on Linux, and only if this process may create cgroups (as root, or in a delegated
 * cgroup).
 */

const MB = 1024 * 1024;

export class NoMemoryLimit extends Error {}

export interface LimitedMemory {
	/** Put before a command, it runs the command within the limit from its start. */
	readonly within: readonly string[];
	/** The memory that the kernel counted, including page cache, and the number of processes that it killed. */
	counted(): { readonly peakMb: number; readonly kills: number };
	/** Call after the last process has ended. */
	remove(): void;
}

interface CgroupFiles {
	/** The cgroup below which new ones are created. */
	readonly parent: string;
	readonly limit: string;
	/** The limit of swap, if the kernel supports it: otherwise a process could exceed the limit by swapping. */
	readonly withSwap: readonly [string, (bytes: number) => number];
	readonly peak: string;
	readonly kills: string;
}

export function limitMemory(mb: number): LimitedMemory {
	const { parent, limit, withSwap, peak, kills } = memoryCgroup();
	const group = join(parent, `tidemark-fuzz-${process.pid}`);
	const file = (name: string): string => join(group, name);
	try {
		mkdirSync(group);
		writeFileSync(file(limit), `${mb * MB}`);
	} catch (error) {
		if (existsSync(group)) rmdirSync(group);
		throw new NoMemoryLimit(
			`this process may not limit memory below ${parent}: ${(error as Error).message}. ${OTHERWISE}`,
		);
	}
	const [swapFile, swapBytes] = withSwap;
	if (existsSync(file(swapFile))) writeFileSync(file(swapFile), `${swapBytes(mb * MB)}`);
	return {
		within: ['sh', '-c', 'echo $$ >"$0" && exec "$@"', file('cgroup.procs')],
		counted: () => ({
			peakMb: existsSync(file(peak)) ? Number(readFileSync(file(peak), 'utf8')) / MB : 0,
			kills: Number(/^oom_kill (\d+)$/m.exec(readFileSync(file(kills), 'utf8'))?.[1] ?? 0),
		}),
		remove: () => rmdirSync(group),
	};
}

const OTHERWISE =
	'Run as root on Linux, or start the whole command in a container that has the limit and leave --memory out.';

function memoryCgroup(): CgroupFiles {
	const own = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '';
	const v1Path = /^\d+:memory:(.*)$/m.exec(own)?.[1];
	if (v1Path !== undefined)
		return {
			parent: cgroupAt('/sys/fs/cgroup/memory', v1Path),
			limit: 'memory.limit_in_bytes',
			withSwap: ['memory.memsw.limit_in_bytes', (bytes) => bytes],
			peak: 'memory.max_usage_in_bytes',
			kills: 'memory.oom_control',
		};
	const v2Path = /^0::(.*)$/m.exec(own)?.[1];
	if (v2Path === undefined || !existsSync('/sys/fs/cgroup/cgroup.controllers'))
		throw new NoMemoryLimit(`this machine has no memory cgroups. ${OTHERWISE}`);
	return {
		parent: nearestWithMemoryControl(cgroupAt('/sys/fs/cgroup', v2Path)),
		limit: 'memory.max',
		withSwap: ['memory.swap.max', () => 0],
		peak: 'memory.peak',
		kills: 'memory.events',
	};
}

/** In a container the path of the host does not exist: then the root is the container's own cgroup. */
const cgroupAt = (root: string, path: string): string =>
	existsSync(join(root, path)) ? join(root, path) : root;

/**
 * For cgroup v2: the nearest ancestor that gives its children a memory limit. A cgroup with processes of its own cannot.
 */
function nearestWithMemoryControl(from: string): string {
	for (let group = from; group.startsWith('/sys/fs/cgroup'); group = join(group, '..')) {
		const control = join(group, 'cgroup.subtree_control');
		if (existsSync(control) && readFileSync(control, 'utf8').split(/\s/).includes('memory')) return group;
	}
	throw new NoMemoryLimit(`no cgroup above ${from} gives its children a memory limit. ${OTHERWISE}`);
}
