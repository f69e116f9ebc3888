import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A memory limit that the kernel enforces, as in a container: a cgroup of its own below the one of this process. A process
 * that takes more is killed. Linux only, and only where this process may make cgroups (root, or a delegated cgroup).
 */

const MB = 1024 * 1024;

export class NoMemoryLimit extends Error {}

export interface LimitedMemory {
	/** In front of a command, which then runs within the limit from its beginning. */
	readonly within: readonly string[];
	/** What the kernel counted, page cache included, and how many processes it killed. */
	counted(): { readonly peakMb: number; readonly kills: number };
	/** After the last process has ended. */
	remove(): void;
}

interface Kind {
	/** Below which a cgroup is made. */
	readonly parent: string;
	readonly limit: string;
	/** Swap, where the kernel limits it: a limit that spills into swap is none. */
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

function memoryCgroup(): Kind {
	const own = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '';
	const first = /^\d+:memory:(.*)$/m.exec(own)?.[1];
	if (first !== undefined)
		return {
			parent: beneath('/sys/fs/cgroup/memory', first),
			limit: 'memory.limit_in_bytes',
			withSwap: ['memory.memsw.limit_in_bytes', (bytes) => bytes],
			peak: 'memory.max_usage_in_bytes',
			kills: 'memory.oom_control',
		};
	const second = /^0::(.*)$/m.exec(own)?.[1];
	if (second === undefined || !existsSync('/sys/fs/cgroup/cgroup.controllers'))
		throw new NoMemoryLimit(`this machine has no memory cgroups. ${OTHERWISE}`);
	return {
		parent: giving(beneath('/sys/fs/cgroup', second)),
		limit: 'memory.max',
		withSwap: ['memory.swap.max', () => 0],
		peak: 'memory.peak',
		kills: 'memory.events',
	};
}

/** In a container the path of the host is not there: the root is our own then. */
const beneath = (root: string, path: string): string =>
	existsSync(join(root, path)) ? join(root, path) : root;

/** Of the second kind: the nearest that gives its children a memory limit. One with processes of its own gives none. */
function giving(from: string): string {
	for (let group = from; group.startsWith('/sys/fs/cgroup'); group = join(group, '..')) {
		const control = join(group, 'cgroup.subtree_control');
		if (existsSync(control) && readFileSync(control, 'utf8').split(/\s/).includes('memory')) return group;
	}
	throw new NoMemoryLimit(`no cgroup above ${from} gives its children a memory limit. ${OTHERWISE}`);
}
