import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servicesScript } from './services-script.ts';
import { signalAndWait } from './signal.ts';

/** Services of a test's own, which it may stop and kill: scripts/services in its own directory. */

export type Service = 'postgres' | 'redis' | 'redis-cluster' | 'redis-replicas' | 'kafka' | 'kafka-trio';
/** Services of several processes, numbered from 1. */
type Nodes = 'redis-cluster' | 'kafka-trio';

export interface OwnServices {
	/** Addresses, by the names that scripts/services prints. */
	readonly env: Readonly<Record<string, string>>;
	stop(service: Service, how?: 'finish' | 'crash'): Promise<void>;
	start(service: Service): Promise<void>;
	/** For a service of one process: pauses it. Once this resolves, it answers nothing until `wake`. */
	pause(service: 'kafka' | 'redis'): Promise<void>;
	wake(service: 'kafka' | 'redis'): void;
	/** Pauses or kills one process of a service. Once this resolves, the process answers nothing; `start` restarts killed ones. */
	haltNode(service: Nodes, node: number, name: 'SIGKILL' | 'SIGSTOP'): Promise<void>;
	wakeNode(service: Nodes, node: number): void;
	/** Stops one process of a service cleanly, and starts it again. */
	restartNode(service: Nodes, node: number): Promise<void>;
	/** Starts one more service, in the directory of the others. */
	add(service: Service): Promise<void>;
	/** The directory with the service's files. */
	directoryOf(service: Service): string;
	down(): Promise<void>;
}

const NONE: OwnServices = {
	env: {},
	stop: async () => undefined,
	start: async () => undefined,
	pause: async () => undefined,
	wake: () => undefined,
	haltNode: async () => undefined,
	wakeNode: () => undefined,
	restartNode: async () => undefined,
	add: async () => undefined,
	directoryOf: () => '',
	down: async () => undefined,
};

export async function ownServices(...services: readonly Service[]): Promise<OwnServices> {
	// Without a name, the script would start its default services.
	if (services.length === 0) return NONE;
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-services-own-'));
	const call = servicesScript(directory);
	/** Pid files of the processes that are paused. */
	const paused = new Set<string>();
	const pidIn = (pidFile: string): number => Number(readFileSync(join(directory, pidFile), 'utf8'));
	const halt = (pidFile: string, name: 'SIGKILL' | 'SIGSTOP'): Promise<void> => {
		if (name === 'SIGSTOP') paused.add(pidFile);
		else paused.delete(pidFile);
		return signalAndWait(pidIn(pidFile), name);
	};
	const wake = (pidFile: string): void => {
		process.kill(pidIn(pidFile), 'SIGCONT');
		paused.delete(pidFile);
	};
	const up = async (...names: readonly Service[]): Promise<Record<string, string>> => {
		const lines = (await call('up', ...names)).trim().split('\n');
		return Object.fromEntries(
			lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
		);
	};
	const addresses = await up(...services);
	return {
		env: addresses,
		stop: async (service, how = 'finish') =>
			void (await call('stop', ...(how === 'crash' ? ['--crash'] : []), service)),
		start: async (service) => void (await call('start', service)),
		pause: (service) => halt(`${service}/pid`, 'SIGSTOP'),
		wake: (service) => wake(`${service}/pid`),
		haltNode: (service, node, name) => halt(`${service}/pid.${node}`, name),
		wakeNode: (service, node) => wake(`${service}/pid.${node}`),
		restartNode: async (service, node) => {
			const pid = pidIn(`${service}/pid.${node}`);
			process.kill(pid, 'SIGTERM');
			while (existsSync(`/proc/${pid}`)) await Bun.sleep(50);
			await call('start', service);
		},
		add: async (service) => void Object.assign(addresses, await up(service)),
		directoryOf: (service) => join(directory, service),
		down: async () => {
			// A failed test may have left a process paused: it would not react to SIGTERM.
			for (const pidFile of paused) wake(pidFile);
			await call('down');
		},
	};
}
