import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Results, SavedResult } from './figures.ts';
import { pageOf } from './page.ts';
import { LATEST, PAGE, ROOT } from './paths.ts';
import type { Scenario } from './scenario.ts';

/** Stores the last result of every scenario with its commit, and renders them on one page. */

export function readResults(): Results {
	try {
		return JSON.parse(readFileSync(LATEST, 'utf8')) as Results;
	} catch {
		return {};
	}
}

export function saveResult(scenario: Scenario, result: Omit<SavedResult, 'about' | 'date'>): void {
	const date = new Date().toISOString().slice(0, 10);
	const saved: SavedResult = { about: scenario.about, date, ...result };
	const results = { ...readResults(), [scenario.name]: saved };
	const sorted = Object.fromEntries(
		Object.entries(results).sort(([one], [other]) => one.localeCompare(other)),
	);
	mkdirSync(dirname(LATEST), { recursive: true });
	writeFileSync(LATEST, `${JSON.stringify(sorted, null, '\t')}\n`);
	// Formatted as the repository's own check requires; without that tool, nothing checks it.
	const biome = join(ROOT, 'node_modules', '.bin', 'biome');
	if (existsSync(biome)) Bun.spawnSync([biome, 'format', '--write', LATEST], { cwd: ROOT });
}

/** Written completely each time, so that the page always matches the stored results. */
export function writePage(scenarios: readonly Scenario[]): void {
	mkdirSync(dirname(PAGE), { recursive: true });
	writeFileSync(
		PAGE,
		pageOf(
			readResults(),
			scenarios.map(({ name }) => name),
		),
	);
}
