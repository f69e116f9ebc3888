import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Services of a test's own, which it may stop and kill: scripts/services on a directory of its own. */

const SCRIPT = new URL('../../scripts/services', import.meta.url).pathname;

export type Service = 'postgres' | 'redis' | 'redis-cluster' | 'kafka' | 'kafka-trio';

export interface OwnServices {
	/** By the names that scripts/services tells. */
	readonly env: Readonly<Record<string, string>>;
	stop(service: Service, how?: 'finish' | 'crash'): Promise<void>;
	start(service: Service): Promise<void>;
	/** Of a service that is one process: it stays, and answers nobody until it is woken. */
	pause(service: 'kafka' | 'redis'): void;
	wake(service: 'kafka' | 'redis'): void;
	/** One of three brokers, numbered from 1. `start` brings a killed one back. */
	signalBroker(node: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
	down(): Promise<void>;
}

const NONE: OwnServices = {
	env: {},
	stop: async () => undefined,
	start: async () => undefined,
	pause: () => undefined,
	wake: () => undefined,
	signalBroker: () => undefined,
	down: async () => undefined,
};

export async function ownServices(...services: readonly Service[]): Promise<OwnServices> {
	// The script would start all of them.
	if (services.length === 0) return NONE;
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-services-own-'));
	const env: Record<string, string | undefined> = {
		...process.env,
		TIDEMARK_SERVICES_DIR: directory,
		// Should this process be killed, the next call of the script removes them.
		TIDEMARK_SERVICES_OWNER: String(process.pid),
	};
	// Those that the other tests use are not to be stopped.
	for (const name of Object.keys(env)) if (/^TIDEMARK_TEST_.*_(URL|BROKERS)$/.test(name)) delete env[name];
	const call = async (...args: readonly string[]): Promise<string> => {
		const child = Bun.spawn([SCRIPT, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
		const told = await new Response(child.stdout).text();
		if ((await child.exited) !== 0) throw new Error(`scripts/services ${args.join(' ')} failed`);
		return told;
	};
	/** By their files with the number of the process. */
	const paused = new Set<string>();
	const signal = (pidFile: string, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void => {
		process.kill(Number(readFileSync(join(directory, pidFile), 'utf8')), name);
		if (name === 'SIGSTOP') paused.add(pidFile);
		else paused.delete(pidFile);
	};
	const told = await call('up', ...services);
	return {
		env: Object.fromEntries(
			told
				.trim()
				.split('\n')
				.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
		),
		stop: async (service, how = 'finish') =>
			void (await call('stop', ...(how === 'crash' ? ['--crash'] : []), service)),
		start: async (service) => void (await call('start', service)),
		pause: (service) => signal(`${service}/pid`, 'SIGSTOP'),
		wake: (service) => signal(`${service}/pid`, 'SIGCONT'),
		signalBroker: (node, name) => signal(`kafka-trio/pid.${node}`, name),
		down: async () => {
			// A test that failed may have left it so, and then it would not hear that it is to end.
			for (const pidFile of paused) signal(pidFile, 'SIGCONT');
			await call('down');
		},
	};
}
