import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { MissingRequirement } from './scenario.ts';

/** What a process has used so far, all threads together, as Linux counts it. */

/** Seconds of CPU, from the scheduler's nanoseconds: the ticks in `stat` are too coarse for short runs. */
export function cpuSeconds(pid: number): number {
	const tasks = `/proc/${pid}/task`;
	if (!existsSync(tasks))
		throw new MissingRequirement('CPU per process is read from /proc: this needs Linux');
	let nanoseconds = 0;
	for (const thread of readdirSync(tasks)) {
		try {
			nanoseconds += Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
		} catch {
			// The thread ended while we looked.
		}
	}
	return nanoseconds / 1e9;
}

/** Bytes in memory. */
export function residentBytes(pid: number): number {
	const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
	return Number(line?.[1] ?? 0) * 1024;
}

/** How many files and sockets a process started from here may open. */
export function openFilesLimit(): number {
	const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
	return line?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line?.[1] ?? 0);
}
