import type { Subprocess } from 'bun';
import { firstLineWith } from './lines.ts';
import { TIDEMARK } from './paths.ts';
import type { Bench } from './scenario.ts';

/** A server in its own process, started as anybody would start it. */

export const ADMIN_TOKEN = 'administrator-of-the-benchmark';

/** Limits on calls are disabled, because the load would exceed them. */
export const FLAGS = [
	'--requests-per-second=0',
	'--posts-per-second=0',
	'--connects-per-second=0',
	'--log-level=error',
] as const;

export interface BenchServer {
	readonly pid: number;
	/** All processes of the server. */
	readonly pids: readonly number[];
	readonly port: number;
	readonly url: string;
	/** Milliseconds from starting the process until it answered that it is ready. */
	readonly startMs: number;
	stop(): Promise<void>;
	/** kill -9. */
	kill(): Promise<void>;
}

export async function startServer(
	bench: Bench,
	dataDir: string,
	flags: readonly string[] = [],
	environment: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
	const started = performance.now();
	const child = Bun.spawn(
		[TIDEMARK, 'serve', '--host=127.0.0.1', '--port=0', `--data-dir=${dataDir}`, ...FLAGS, ...flags],
		{
			env: { ...process.env, ...environment, TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN },
			stdio: ['ignore', 'pipe', 'inherit'],
		},
	);
	bench.atEnd(() => end(child, 'SIGKILL'));
	const line = await firstLineWith(child.stdout, 'engine, http');
	const port = Number(/http:\/\/[^:]+:(\d+)/.exec(line)?.[1]);
	const url = `http://127.0.0.1:${port}`;
	await fetch(`${url}/readyz`);
	return {
		pid: child.pid,
		pids: [child.pid],
		port,
		url,
		startMs: performance.now() - started,
		stop: () => end(child, 'SIGTERM'),
		kill: () => end(child, 'SIGKILL'),
	};
}

export async function end(child: Subprocess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
	if (child.exitCode === null && child.signalCode === null) child.kill(signal);
	await child.exited;
}
