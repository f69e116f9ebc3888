import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from './command.ts';

/**
 * PostgreSQL, Redis and Kafka for all groups of a run together, started once: tests take schemas, prefixes and topics of
 * their own, and what stops or empties a service starts its own. Services that run already are used.
 */

const SCRIPT = join(ROOT, 'scripts', 'services');
/** Of what a service that did not start had to say: enough for its cause. */
const LINES_SHOWN = 12;

/** What groups get to know of them: the variables that name them, or why there are none. */
export type Found = { readonly env: Readonly<Record<string, string>> } | { readonly problem: string };

export interface Services {
	of(services: readonly string[]): Promise<Found>;
	/** Those that do not answer any more, which may be why tests failed. */
	unwell(): Promise<string[]>;
	stop(): Promise<void>;
}

const NONE: Services = {
	of: async () => ({ env: {} }),
	unwell: async () => [],
	stop: async () => undefined,
};

export function startServices(services: readonly string[], reports: string): Services {
	if (services.length === 0) return NONE;
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-services-test-'));
	const output = join(reports, 'services.txt');
	const shown = async () => await Bun.file(output).text();
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
			const missing = code === 0 ? [] : missingOf(wanted, await shown());
			if (missing.length === 0) return { env: parseEnv(await Bun.file(join(directory, 'env')).text()) };
			return {
				problem: `${missing.join(' and ')} could not be started (exit ${code})${endOf(await shown())}`,
			};
		},
		unwell: async () => {
			const before = (await shown()).length;
			await call('status');
			const found = (await shown()).slice(before).matchAll(/^(\S+): does not answer/gm);
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

/** Where the script does not say which ones, it is all of them. */
function missingOf(wanted: readonly string[], shown: string): readonly string[] {
	const named = /^services: not up: (.*)$/m.exec(shown)?.[1]?.split(' ');
	return named ? wanted.filter((service) => named.includes(service)) : wanted;
}

/** NAME=value lines. */
const parseEnv = (text: string): Record<string, string> =>
	Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
