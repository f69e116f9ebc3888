import { type Figure, isMet, median, type Results, type SavedResult } from './figures.ts';
import { figureTable, markdownTable, medianOf, targetOf } from './table.ts';

/** Renders the page of all results, docs/benchmarks.md. Pure. */

const INTRODUCTION = `# Benchmarks

\`npm run bench\` generates this page from bench/results/latest.json; do not edit it.

Every figure is the median of its runs, with the lowest and the highest beside it. Machines differ and are noisy, so compare
ratios (×): each compares two measurements of the same run on the same machine.
\`npm run bench -- NAME\` measures one scenario again; \`npm run bench -- --list\` lists their names.
`;

const ABOUT_SUMMARY = `## Summary

For each scenario, this table has the figure that is worst against its target, and how many targets are met. *Load* is the load average of the
machine in the minute before. If it is higher than the number of cores, something else was running, and times are longer.
`;

/** `scenarios`: all existing ones, in the order of the summary; one without a result is named too. */
export function pageOf(results: Results, scenarios: readonly string[]): string {
	const sections = Object.entries(results).map(([name, saved]) => sectionOf(name, saved));
	return [INTRODUCTION, ABOUT_SUMMARY, `${summaryOf(results, scenarios)}\n`, ...sections].join('\n');
}

const SUMMARY_HEADER = ['scenario', 'figure', 'median', 'target', 'targets met', 'load', 'measured'] as const;

function summaryOf(results: Results, scenarios: readonly string[]): string {
	const names = new Set([...scenarios, ...Object.keys(results)]);
	return markdownTable(
		SUMMARY_HEADER,
		[...names].map((name) => {
			const saved = results[name];
			return saved ? [`[${name}](#${name})`, ...summarised(saved)] : [name, '', '', '', '', '', 'not yet'];
		}),
	);
}

function summarised({ figures, machine, date }: SavedResult): string[] {
	const aimed = figures.filter(({ target }) => target);
	const [worst] = aimed.toSorted((one, other) => shortfall(other) - shortfall(one));
	return [
		...(worst ? [worst.what, medianOf(worst), targetOf(worst)] : ['', '', '']),
		`${aimed.filter(isMet).length} of ${aimed.length}`,
		String(machine['load before the start'] ?? ''),
		date,
	];
}

/** 1 if the target is just met, more if it is missed. */
function shortfall({ runs, target }: Figure): number {
	const value = median(runs);
	return Math.max(value / (target?.atMost ?? Number.POSITIVE_INFINITY), (target?.atLeast ?? 0) / value);
}

function sectionOf(name: string, saved: SavedResult): string {
	const lines = [
		`## ${name}`,
		'',
		`${saved.about}. Measured ${saved.date} at commit ${saved.commit.replace(/[0-9a-f]{40}/, (hash) => hash.slice(0, 12))}${saved.scale === 'standard' ? '' : `, scale ${saved.scale}`}.`,
		'',
		figureTable(saved.figures),
		'',
		...Object.entries(saved.configuration).map(([what, value]) => `- ${what}: ${value}`),
		`- machine: ${Object.entries(saved.machine)
			.map(([what, value]) => `${what} ${value}`)
			.join('; ')}`,
		...saved.notes.map((note) => `- note: ${note}`),
		'',
	];
	return lines.join('\n');
}
