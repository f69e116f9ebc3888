import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { servicesScript } from '../../test/support/services-script.ts';
import type { Bench } from './scenario.ts';

/** A scenario's own services, which `scripts/services` starts and removes. Returns a function from variables to addresses. */
export async function benchServices(
	bench: Bench,
	...wanted: readonly ('redis' | 'postgres' | 'kafka')[]
): Promise<(variable: string) => string> {
	// Not inside the repository: PostgreSQL's own user needs access.
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-services-bench-'));
	const services = servicesScript(directory, { TIDEMARK_SERVICES_LONG_RUN: '1' });
	bench.progress(`starting ${wanted.join(', ')}`);
	bench.atEnd(() => services('down'));
	const output = await services('up', ...wanted);
	return (variable) => {
		const found = new RegExp(`^${variable}=(.*)$`, 'm').exec(output)?.[1];
		if (found === undefined) throw new Error(`scripts/services did not print ${variable}`);
		return found;
	};
}
