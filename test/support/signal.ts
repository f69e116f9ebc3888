import { readdirSync, readFileSync } from 'node:fs';

/**
 * Sends a signal that stops or kills a process, and waits until it has taken effect. `kill` alone only queues the signal: on a busy
 * machine the threads of a broker stop up to 200 ms later, and until then they write records and answer requests.
 */

const WITHIN_MS = 30_000;
/** States of a thread, as in /proc/PID/task/TID/stat, that does nothing any more. */
const INACTIVE = { SIGSTOP: 'T', SIGKILL: 'ZX' } as const;

export async function signalAndWait(pid: number, name: keyof typeof INACTIVE): Promise<void> {
	process.kill(pid, name);
	const deadline = performance.now() + WITHIN_MS;
	// Twice: a thread that starts during the first listing is in the second one. Later none starts, because the signal is pending for all.
	for (const _ of ['first', 'second'])
		for (let active = activeThreads(pid, name); active > 0; active = activeThreads(pid, name)) {
			if (performance.now() > deadline)
				throw new Error(`${active} threads of process ${pid} are active ${WITHIN_MS} ms after ${name}`);
			await Bun.sleep(1);
		}
}

function activeThreads(pid: number, name: keyof typeof INACTIVE): number {
	const threads = `/proc/${pid}/task`;
	const states = (unlessGone(() => readdirSync(threads)) ?? []).map((thread) =>
		unlessGone(() =>
			readFileSync(`${threads}/${thread}/stat`, 'utf8')
				.replace(/^.*\) /s, '')
				.charAt(0),
		),
	);
	return states.filter((state) => state !== null && !INACTIVE[name].includes(state)).length;
}

/** Null if the process or thread has ended. */
function unlessGone<T>(read: () => T): T | null {
	try {
		return read();
	} catch (error) {
		if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
		throw error;
	}
}
