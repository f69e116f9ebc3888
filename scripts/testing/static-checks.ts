import { join } from 'node:path';
import { ROOT, run } from './command.ts';
import type { Job, RunResult } from './jobs.ts';

/** TypeScript 7, several times as fast as TypeScript 6. Called by its path: `tsc` is TypeScript 6, which dependency-cruiser needs. */
const COMPILER = 'typescript-native/bin/tsc';

/** Checks the types of one project. tsc caches its result in node_modules, so that the next run checks only changes. */
const types = (project: string, ...options: readonly string[]): readonly string[] => {
	const cacheFile = join(ROOT, 'node_modules', '.cache', `types-${project.replaceAll('/', '-')}.tsbuildinfo`);
	return [COMPILER, '-p', project, '--noEmit', '--incremental', '--tsBuildInfoFile', cacheFile, ...options];
};

/** Checks that run no code of the project; the longest first. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
	'types (tsc)': types('.'),
	'types of the web interface (tsc)': types('web'),
	'types of the client, without Bun (tsc)': types('client', '--emitDeclarationOnly', 'false'),
	'types of the service worker (tsc)': types('web/sw'),
	'dependency direction (dependency-cruiser)': ['.bin/depcruise', 'src', 'client/src', 'web/src', 'web/sw'],
	'lint and format (biome)': ['.bin/biome', 'check', '--error-on-warnings', '.'],
};

export const staticChecks = (result: RunResult): Job[] =>
	Object.entries(CHECKS).map(([title, [tool = '', ...args]]) => ({
		title,
		run: async (output) => {
			const code = await run([join(ROOT, 'node_modules', tool), ...args], output);
			if (code === 0) result.passed++;
			else result.failures.push(`${title}: exit ${code}`);
		},
	}));
