import type { RunningRole } from './cluster.ts';
import type { CliCommand } from './command.ts';
import { logSettings, startLog, stopSignal } from './command-serve.ts';
import { ALL_SETTINGS, type Config } from './config.ts';
import { VERSION } from './version.ts';

/**
 * `tidemark gateway` and `tidemark worker`: the roles of a cluster, any number of each. Their code is imported when
 * a role starts: loading the clients of Kafka, Redis and PostgreSQL would otherwise more than double the start time
 * of every command.
 */

type Run = (config: Config, log: ReturnType<typeof startLog>) => Promise<RunningRole>;

const roleCommand = (role: 'gateway' | 'worker', summary: string, run: Run): CliCommand => ({
	summary,
	usage: '--redis-url … --postgres-url … --kafka-brokers … [settings]',
	options: {},
	// A role keeps all state in the services and has no data directory.
	settings: ALL_SETTINGS.filter((name) => name !== 'dataDir'),
	helpVariant: 'cluster',
	run: async ({ config }) => {
		const log = startLog(config);
		const stopped = stopSignal();
		// A start that waits for a service still obeys a stop signal.
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
	'Run a gateway of a cluster: it serves clients; its state is in Kafka, Redis and PostgreSQL.',
	async (config, log) => (await import('./cluster.ts')).runGateway(config, log),
);

export const workerCommand = roleCommand(
	'worker',
	'Run a worker of a cluster: it sequences messages and persists them.',
	async (config, log) => (await import('./cluster.ts')).runWorker(config, log),
);
