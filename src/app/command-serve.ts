import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import pino, { type DestinationStream, type Logger } from 'pino';
import { adminTokenFile } from './admin-token.ts';
import { isCluster } from './cluster-addresses.ts';
import type { CliCommand } from './command.ts';
import { type Config, describeConfig, unknownVariables } from './config.ts';
import { demoWorkspace } from './demo.ts';
import { readableLine } from './log-lines.ts';
import { nextSteps } from './next-steps.ts';
import { serve } from './serve.ts';
import { VERSION } from './version.ts';

/** `tidemark serve`: runs every role in one process until a stop signal. */

export const serveCommand: CliCommand = {
	summary: 'Run the server on one machine: one process with one data directory.',
	usage: '[--demo] [settings]',
	options: { demo: { help: 'create a demo workspace on the first start', takesValue: false } },
	run: async ({ config, options }) => {
		const log = startLog(config);
		const stopped = stopSignal();
		if (isCluster(config))
			log.warn(
				'`serve` does not use Redis, PostgreSQL or Kafka: their settings are ignored. To run a cluster, use `tidemark gateway` and `tidemark worker`',
			);
		const running = await serve(config, log);
		logSettings(config, log);
		console.log(
			`Tidemark ${VERSION}, ${running.engine} engine, ${running.url}, data in ${resolve(config.dataDir)}`,
		);
		if (running.admin.isNew) {
			console.log(`Administrator's token, shown this once: ${running.admin.token}`);
			console.log(
				`  (saved in ${adminTokenFile(config.dataDir)}; it opens ${running.url}/admin and /ops; set TIDEMARK_ADMIN_TOKEN to choose your own)`,
			);
		}
		if (options.demo === 'true') {
			console.log(await demoWorkspace(running.url, running.admin.token, config.dataDir));
		}
		console.log(await nextSteps(running.url, running.admin.token, config.dataDir, options.demo === 'true'));
		const signal = await stopped;
		log.info(`${signal} received: stopping`);
		await running.stop();
		return 0;
	},
};

/** The log goes to standard error, so that standard output has only the messages for people. */
export function startLog(config: Config): Logger {
	const log = pino({ level: config.logLevel, base: null }, logDestination(config));
	for (const name of unknownVariables(process.env))
		log.warn(`${name} is not a setting of Tidemark and is ignored. See 'tidemark serve --help'.`);
	return log;
}

const isForPeople = ({ logFormat }: Config): boolean =>
	logFormat === 'auto' ? process.stderr.isTTY : logFormat === 'text';

function logDestination(config: Config): DestinationStream {
	if (!isForPeople(config)) return pino.destination({ dest: 2, sync: true });
	return { write: (line) => void writeSync(2, readableLine(line)) };
}

/** Called after a successful start, so that a failed start prints nothing but its error. */
export const logSettings = (config: Config, log: Logger): void =>
	log.debug({ settings: describeConfig(config) }, 'effective settings');

export const stopSignal = (): Promise<string> =>
	new Promise((done) => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done(signal));
	});
