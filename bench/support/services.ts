import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './paths.ts';
import type { Bench } from './scenario.ts';

/** A scenario's own services, which `scripts/services` starts and removes. Returns a function from variables to addresses. */
export async function benchServices(
	bench: Bench,
	...wanted: readonly ('redis' | 'postgres' | 'kafka')[]
): Promise<(variable: string) => string> {
	// Not inside the repository: PostgreSQL's own user needs access.
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-services-bench-'));
	const env: Record<string, string | undefined> = {
		...process.env,
		TIDEMARK_SERVICES_DIR: directory,
		TIDEMARK_SERVICES_OWNER: String(process.pid),
		TIDEMARK_SERVICES_LONG_RUN: '1',
	};
	// With these variables, the script would use running services, and some scenarios empty theirs.
	for (const name of Object.keys(env)) if (/^TIDEMARK_TEST_.*_(URL|BROKERS)$/.test(name)) delete env[name];
	const services = async (...args: readonly string[]): Promise<string> => {
		const child = Bun.spawn([join(ROOT, 'scripts', 'services'), ...args], {
			env,
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		const output = await new Response(child.stdout).text();
		if ((await child.exited) !== 0) throw new Error(`scripts/services ${args.join(' ')} failed`);
		return output;
	};
	bench.progress(`starting ${wanted.join(', ')}`);
	bench.atEnd(() => services('down'));
	const output = await services('up', ...wanted);
	return (variable) => {
		const found = new RegExp(`^${variable}=(.*)$`, 'm').exec(output)?.[1];
		if (found === undefined) throw new Error(`scripts/services did not print ${variable}`);
		return found;
	};
}
