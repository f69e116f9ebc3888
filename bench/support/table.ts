import { type Figure, isMet, median } from './figures.ts';

/** Formats figures as a table. */

export function shown(value: number): string {
	if (!Number.isFinite(value)) return '–';
	const size = Math.abs(value);
	if (size >= 1000) return Math.round(value).toLocaleString('en-US');
	if (size >= 100) return value.toFixed(0);
	if (size >= 10) return value.toFixed(1);
	return size >= 1 ? value.toFixed(2) : value.toFixed(3);
}

const spreadOf = ({ runs }: Figure): string =>
	runs.length === 1 ? '1 run' : `${shown(Math.min(...runs))} … ${shown(Math.max(...runs))} (${runs.length})`;

export function targetOf(figure: Figure): string {
	const { target } = figure;
	if (!target) return '';
	const bound = target.atMost === undefined ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
	return `${bound} ${isMet(figure) ? 'met' : 'missed'}`;
}

const HEADER = ['figure', 'median', 'lowest … highest (runs)', 'target'] as const;

export const medianOf = ({ runs, unit }: Figure): string => `${shown(median(runs))} ${unit}`;

const rowsOf = (figures: readonly Figure[]): string[][] =>
	figures.map((one) => [one.what, medianOf(one), spreadOf(one), targetOf(one)]);

export function plainTable(figures: readonly Figure[]): string {
	const rows = [[...HEADER], ...rowsOf(figures)];
	const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	return rows
		.map((row) =>
			`  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.replace(/ +$/, ''),
		)
		.join('\n');
}

export const figureTable = (figures: readonly Figure[]): string => markdownTable(HEADER, rowsOf(figures));

export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
	const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
	return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}
