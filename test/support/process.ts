import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_TOKEN } from './server.ts';
import { signalAndWait } from './signal.ts';

/** The command line as people run it: real processes of `bin/tidemark`. */

const TIDEMARK = join(import.meta.dir, '..', '..', 'bin', 'tidemark');

export interface Ended {
	readonly code: number | null;
	readonly signal: string | null;
	readonly out: string;
	readonly err: string;
}

export interface TidemarkProcess {
	readonly out: () => string;
	readonly err: () => string;
	/** Waits until standard output matches; returns the first group, or the whole match. */
	printed(pattern: RegExp): Promise<string>;
	/** Sends the signal and waits for the exit. */
	end(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): Promise<Ended>;
	/** Stops the process in the middle of its work (SIGSTOP), until `wake`. Resolves when all its threads have stopped. */
	pause(): Promise<void>;
	wake(): void;
	readonly ended: Promise<Ended>;
}

/** Processes that have not exited, with their arguments: `withDirectory` kills those that a failed test left running. */
const running = new Map<Bun.Subprocess, string>();

export function tidemark(
	args: readonly string[],
	environment: Readonly<Record<string, string>> = {},
	within: readonly string[] = [],
): TidemarkProcess {
	const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('TIDEMARK_'));
	const child = Bun.spawn([...within, TIDEMARK, ...args], {
		env: { ...Object.fromEntries(inherited), ...environment },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	running.set(child, args.join(' '));
	const out = collect(child.stdout);
	const err = collect(child.stderr);
	const ended = Promise.all([child.exited, out.done, err.done]).then(() => {
		running.delete(child);
		const signal = child.signalCode === null ? null : String(child.signalCode);
		return { code: child.exitCode, signal, out: out.text(), err: err.text() };
	});
	return {
		out: out.text,
		err: err.text,
		ended,
		pause: () => signalAndWait(child.pid, 'SIGSTOP'),
		wake: () => child.kill('SIGCONT'),
		printed: (pattern) =>
			Promise.race([
				out.has(pattern),
				ended.then(({ code, out, err }) => {
					const found = pattern.exec(out);
					if (found) return found[1] ?? found[0];
					throw new Error(`ended with ${code} before it printed ${pattern}:\n${out}\n${err}`);
				}),
			]),
		end: (signal) => {
			child.kill(signal);
			return ended;
		},
	};
}

function collect(stream: ReadableStream<Uint8Array>) {
	let text = '';
	const checks = new Set<() => void>();
	const done = (async () => {
		const decoder = new TextDecoder();
		for await (const chunk of stream) {
			text += decoder.decode(chunk, { stream: true });
			for (const check of checks) check();
		}
	})();
	const has = (pattern: RegExp): Promise<string> =>
		new Promise((resolve) => {
			const check = () => {
				const found = pattern.exec(text);
				if (!found) return;
				checks.delete(check);
				resolve(found[1] ?? found[0]);
			};
			checks.add(check);
			check();
		});
	return { text: () => text, done, has };
}

export interface ServerProcess extends TidemarkProcess {
	readonly url: string;
}

export const UNLIMITED = [
	'--requests-per-second',
	'0',
	'--posts-per-second',
	'0',
	'--connects-per-second',
	'0',
];

/** `tidemark serve` on this directory, ready for requests. `within`: a command that runs it. */
export async function serveProcess(
	dataDir: string,
	flags: readonly string[] = [],
	{
		within = [],
		environment = {},
	}: { within?: readonly string[]; environment?: Record<string, string> } = {},
): Promise<ServerProcess> {
	const server = tidemark(
		['serve', '--port', '0', '--host', '127.0.0.1', '--data-dir', dataDir, ...flags],
		{ TIDEMARK_LOG_LEVEL: 'error', ...environment },
		within,
	);
	const url = await server.printed(/(http:\/\/localhost:\d+)/);
	return { ...server, url };
}

/** `serveProcess` with the administrator's token of the tests, and without limits on calls. */
export const testServerProcess = (dataDir: string, flags: readonly string[] = []): Promise<ServerProcess> =>
	serveProcess(dataDir, ['--admin-token', ADMIN_TOKEN, ...UNLIMITED, ...flags]);

/** Runs work with a new directory; afterwards kills processes that still use the directory, and removes it. */
export async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
	try {
		return await work(directory);
	} finally {
		const left = [...running].filter(([, args]) => args.includes(directory)).map(([child]) => child);
		for (const child of left) child.kill('SIGKILL');
		await Promise.all(left.map((child) => child.exited));
		await rm(directory, { recursive: true, force: true });
	}
}
