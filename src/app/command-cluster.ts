import type { RunningRole } from './cluster.ts';
import type { CliCommand } from './command.ts';
import { logSettings, startLog, stopSignal } from './command-serve.ts';
import { ALL_SETTINGS, type Config } from './config.ts';
import { VERSION } from './version.ts';

/**
 * `tidemark gateway` and `tidemark worker`: the roles of a cluster, any number of each. What they consist of is loaded when
 * one of them starts: the clients of its services take more than half of the time in which every command begins.
 */

type Run = (config: Config, log: ReturnType<typeof startLog>) => Promise<RunningRole>;

const roleCommand = (role: 'gateway' | 'worker', summary: string, run: Run): CliCommand => ({
	summary,
	usage: '--redis-url … --postgres-url … --kafka-brokers … [settings]',
	options: {},
	// Everything is in the services: a role has no directory.
	settings: ALL_SETTINGS.filter((name) => name !== 'dataDir'),
	reader: 'cluster',
	run: async ({ config }) => {
		const log = startLog(config);
		const stopped = stopSignal();
		// A start may wait for a service that does not answer: it still obeys a stop signal.
		const running = await Promise.race([run(config, log), stopped]);
		if (typeof running === 'string') {
			log.info(`${running} received while starting: exiting`);
			return 0;
		}
		logSettings(config, log);
		console.log(`Tidemark ${VERSION}, ${role} of the cluster "${config.installation}", ${running.url}`);
		log.info(`${await stopped} received: stopping`);
		await running.stop();
		return 0;
	},
});

export const gatewayCommand = roleCommand(
	'gateway',
	'Run a gateway of a cluster: it serves clients, on Kafka, Redis and PostgreSQL.',
	async (config, log) => (await import('./cluster.ts')).runGateway(config, log),
);

export const workerCommand = roleCommand(
	'worker',
	'Run a worker of a cluster: it sequences messages and persists them.',
	async (config, log) => (await import('./cluster.ts')).runWorker(config, log),
);
