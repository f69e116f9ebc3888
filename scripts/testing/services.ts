import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from './command.ts';

/**
 * PostgreSQL, Redis and Kafka, started once for all groups of a run. Each test uses its own schema, prefix and topics; a test that
 * stops or empties a service starts its own. Services whose TIDEMARK_TEST_… variables are set are used as they are.
 */

const SCRIPT = join(ROOT, 'scripts', 'services');
/** Lines of a log to show if a service does not start; enough to see the cause. */
const LINES_SHOWN = 12;

/** The environment variables with the services' addresses, or why there are none. */
export type ServiceEnv = { readonly env: Readonly<Record<string, string>> } | { readonly problem: string };

export interface Services {
	of(services: readonly string[]): Promise<ServiceEnv>;
	/** Services that no longer answer, with the end of their logs: that may be why tests failed. */
	unresponsive(): Promise<string[]>;
	stop(): Promise<void>;
}

const NONE: Services = {
	of: async () => ({ env: {} }),
	unresponsive: async () => [],
	stop: async () => undefined,
};

export function startServices(services: readonly string[], reports: string): Services {
	if (services.length === 0) return NONE;
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-services-test-'));
	const output = join(reports, 'services.txt');
	const outputSoFar = async () => await Bun.file(output).text();
	const call = async (...args: readonly string[]) =>
		await run([SCRIPT, ...args], output, {
			TIDEMARK_SERVICES_DIR: directory,
			TIDEMARK_SERVICES_OWNER: String(process.pid),
		});
	const logOf = (service: string) =>
		Bun.file(join(directory, service, 'log'))
			.text()
			.catch(() => 'it has no log');
	const up = call('up', ...services);
	return {
		of: async (wanted) => {
			if (wanted.length === 0) return { env: {} };
			const code = await up;
			const missing = code === 0 ? [] : missingOf(wanted, await outputSoFar());
			if (missing.length === 0) return { env: parseEnv(await Bun.file(join(directory, 'env')).text()) };
			return {
				problem: `${missing.join(' and ')} could not be started (exit ${code})${endOf(await outputSoFar())}`,
			};
		},
		unresponsive: async () => {
			const before = (await outputSoFar()).length;
			await call('status');
			const found = (await outputSoFar()).slice(before).matchAll(/^(\S+): does not answer/gm);
			const lines: string[] = [];
			for (const [line, service = ''] of found) lines.push(line + endOf(await logOf(service)));
			return lines;
		},
		stop: async () => {
			await up;
			await call('down');
		},
	};
}

const endOf = (text: string): string =>
	['', ...text.trimEnd().split('\n').slice(-LINES_SHOWN)].join('\n    ');

/** The wanted services that are not running; all of them if the script does not name any. */
function missingOf(wanted: readonly string[], outputSoFar: string): readonly string[] {
	const named = /^services: not up: (.*)$/m.exec(outputSoFar)?.[1]?.split(' ');
	return named ? wanted.filter((service) => named.includes(service)) : wanted;
}

/** Parses NAME=value lines. */
const parseEnv = (text: string): Record<string, string> =>
	Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
