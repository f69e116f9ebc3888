import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { SCENARIOS } from '../../bench/scenarios/index.ts';
import { type Figure, figure, type SavedResult } from '../../bench/support/figures.ts';
import { pageOf } from '../../bench/support/page.ts';
import { PAGE } from '../../bench/support/paths.ts';
import { readResults } from '../../bench/support/results.ts';

/** docs/benchmarks.md is generated from the stored results, and so is its summary. */

const names = SCENARIOS.map(({ name }) => name);

test('the page matches the results; npm run bench -- --page writes it again', () => {
	expect(readFileSync(PAGE, 'utf8')).toBe(pageOf(readResults(), names));
});

const kept = (...figures: readonly Figure[]): SavedResult => ({
	about: 'Something',
	date: '2026-01-02',
	commit: 'c',
	scale: 'standard',
	machine: { 'load before the start': '1.50' },
	configuration: {},
	figures,
	notes: [],
});

const summaryRow = (page: string, name: string): string[] =>
	page
		.split('\n')
		.find((line) => line.startsWith(`| [${name}]`) || line.startsWith(`| ${name} `))
		?.split(' | ')
		.slice(1) ?? [];

test('the summary shows the worst figure of each scenario against its target', () => {
	const page = pageOf(
		{
			most: kept(
				figure('untargeted', 'ms', [900]),
				figure('half', 'ms', [50], { atMost: 100 }),
				figure('twice', 'ms', [10, 20, 30], { atMost: 10 }),
			),
			least: kept(
				figure('a tenth', '/s', [10], { atLeast: 100 }),
				figure('three times', 'ms', [3], { atMost: 1 }),
			),
			met: kept(figure('near', '×', [1.1], { atMost: 1.2 }), figure('far', '×', [100], { atLeast: 1 })),
		},
		['met', 'never', 'most'],
	);
	const measured = ['1.50', '2026-01-02 |'];
	expect(summaryRow(page, 'most')).toEqual(['twice', '20.0 ms', '≤ 10 missed', '1 of 2', ...measured]);
	expect(summaryRow(page, 'least')).toEqual(['a tenth', '10.0 /s', '≥ 100 missed', '0 of 2', ...measured]);
	expect(summaryRow(page, 'met')).toEqual(['near', '1.10 ×', '≤ 1.2 met', '2 of 2', ...measured]);
	expect(summaryRow(page, 'never').at(-1)).toBe('not yet |');
});
