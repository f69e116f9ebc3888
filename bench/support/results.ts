import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Outcome } from './figures.ts';
import { LATEST, PAGE, ROOT } from './paths.ts';
import type { Scale, Scenario } from './scenario.ts';
import { markdownTable } from './table.ts';

/** Keeps the last result of every scenario with the commit it belongs to, and shows them on one page. */

export interface Kept extends Outcome {
	readonly about: string;
	readonly date: string;
	readonly commit: string;
	readonly scale: Scale;
	readonly machine: Readonly<Record<string, string | number>>;
}

type Results = Readonly<Record<string, Kept>>;

function readResults(): Results {
	try {
		return JSON.parse(readFileSync(LATEST, 'utf8')) as Results;
	} catch {
		return {};
	}
}

export function keep(scenario: Scenario, result: Omit<Kept, 'about' | 'date'>): void {
	const date = new Date().toISOString().slice(0, 10);
	const kept: Kept = { about: scenario.about, date, ...result };
	const results = { ...readResults(), [scenario.name]: kept };
	const sorted = Object.fromEntries(
		Object.entries(results).sort(([one], [other]) => one.localeCompare(other)),
	);
	mkdirSync(dirname(LATEST), { recursive: true });
	writeFileSync(LATEST, `${JSON.stringify(sorted, null, '\t')}\n`);
	// As the repository's own check wants it; where that tool is not installed, nothing checks it either.
	const biome = join(ROOT, 'node_modules', '.bin', 'biome');
	if (existsSync(biome)) Bun.spawnSync([biome, 'format', '--write', LATEST], { cwd: ROOT });
	writePage();
}

const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\` from bench/results/latest.json; changes by hand are lost with the next run.

Every figure is the median of its runs, with the lowest and the highest beside it. Machines differ and are noisy: what
counts are the ratios (×), each against something measured in the same run on the same machine.
\`npm run bench -- NAME\` measures one scenario anew, \`npm run bench -- --list\` tells their names.
`;

export function writePage(): void {
	const sections = Object.entries(readResults()).map(([name, kept]) => sectionOf(name, kept));
	mkdirSync(dirname(PAGE), { recursive: true });
	writeFileSync(PAGE, [INTRODUCTION, ...sections].join('\n'));
}

function sectionOf(name: string, kept: Kept): string {
	const lines = [
		`## ${name}`,
		'',
		`${kept.about}. Measured ${kept.date} at commit ${kept.commit.replace(/[0-9a-f]{40}/, (hash) => hash.slice(0, 12))}${kept.scale === 'standard' ? '' : `, scale ${kept.scale}`}.`,
		'',
		markdownTable(kept.figures),
		'',
		...Object.entries(kept.configuration).map(([what, value]) => `- ${what}: ${value}`),
		`- machine: ${Object.entries(kept.machine)
			.map(([what, value]) => `${what} ${value}`)
			.join('; ')}`,
		...kept.notes.map((note) => `- note: ${note}`),
		'',
	];
	return lines.join('\n');
}
