import { join } from 'node:path';
import { ROOT, run } from './command.ts';
import type { Job } from './lanes.ts';
import type { Outcome } from './outcome.ts';

/** What can be known without running anything; the longest first. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
	'types (tsc)': ['tsc', '--noEmit'],
	'types of the web interface (tsc)': ['tsc', '-p', 'web', '--noEmit'],
	'types of the client, without Bun (tsc)': [
		'tsc',
		'-p',
		'client',
		'--noEmit',
		'--emitDeclarationOnly',
		'false',
	],
	'types of the service worker (tsc)': ['tsc', '-p', 'web/sw', '--noEmit'],
	'dependency direction (dependency-cruiser)': ['depcruise', 'src', 'client/src', 'web/src', 'web/sw'],
	'lint and format (biome)': ['biome', 'check', '--error-on-warnings', '.'],
};

export const staticChecks = (outcome: Outcome): Job[] =>
	Object.entries(CHECKS).map(([title, [tool = '', ...args]]) => ({
		title,
		run: async (output) => {
			const code = await run([join(ROOT, 'node_modules', '.bin', tool), ...args], output);
			if (code === 0) outcome.passed++;
			else outcome.failures.push(`${title}: exit ${code}`);
		},
	}));
