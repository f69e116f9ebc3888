import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { readConfig } from '../../src/app/config.ts';
import { type Running, serve } from '../../src/app/serve.ts';

/** A whole server in this process, on a free port and with its own directory. */

export const ADMIN_TOKEN = 'administrator-of-the-tests';
/** For a server that accepts JWTs of a product that integrates it. */
export const JWT_SECRET = 'a secret of the integrating product, long enough';

export interface TestServer {
	readonly url: string;
	readonly dataDir: string;
	/** Stops the server and starts it again on the same data. */
	restart(): Promise<void>;
	stop(): Promise<void>;
}

const UNLIMITED = { 'requests-per-second': '0', 'posts-per-second': '0', 'connects-per-second': '0' };

type Start = (flags: Readonly<Record<string, string>>) => Promise<TestServer>;

export interface Surroundings {
	readonly start: Start;
	readonly engine: 'embedded' | 'cluster';
	/** How long events may take after the answer; 0 if they arrive before the answer. */
	readonly patienceMs: number;
}

let surroundings: Surroundings = { start: startEmbedded, engine: 'embedded', patienceMs: 0 };

/** Makes tests that are imported afterwards run on another engine behind the same API. */
export function runScenariosIn(other: Surroundings): void {
	surroundings = other;
}

/** For tests whose expectations or times depend on the engine. */
export const isOnCluster = (): boolean => surroundings.engine === 'cluster';
/** For `eventually`. */
export const patienceMs = (): number => surroundings.patienceMs;

export const startServer = (flags: Readonly<Record<string, string>> = {}): Promise<TestServer> =>
	surroundings.start(flags);

/** Starts the embedded engine, whatever engine the scenarios run on. */
export async function startEmbedded(flags: Readonly<Record<string, string>>): Promise<TestServer> {
	const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
	const start = (port: string): Promise<Running> =>
		serve(
			readConfig(
				{
					port,
					host: '127.0.0.1',
					'data-dir': dataDir,
					'admin-token': ADMIN_TOKEN,
					...UNLIMITED,
					...flags,
				},
				{},
			),
			pino({ level: 'error' }),
		);
	let running = await start('0');
	return {
		url: running.url,
		dataDir,
		restart: async () => {
			await running.stop();
			running = await start(new URL(running.url).port);
		},
		stop: async () => {
			await running.stop();
			await rm(dataDir, { recursive: true, force: true });
		},
	};
}
