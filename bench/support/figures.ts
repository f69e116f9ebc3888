import type { Scale } from './scenario.ts';

/** A measured figure: one value per run, never an average that hides the spread. */

export interface Target {
	readonly atMost?: number;
	readonly atLeast?: number;
}

export interface Figure {
	readonly what: string;
	readonly unit: string;
	readonly runs: readonly number[];
	readonly target?: Target;
}

export interface ScenarioResult {
	/** What exactly was measured, in words and numbers. */
	readonly configuration: Readonly<Record<string, string | number>>;
	readonly figures: readonly Figure[];
	readonly notes: readonly string[];
}

export const figure = (what: string, unit: string, runs: readonly number[], target?: Target): Figure => ({
	what,
	unit,
	runs,
	...(target ? { target } : {}),
});

/** Divides each run by the run of `against` with the same number. */
export function ratio(
	what: string,
	of: readonly number[],
	against: readonly number[],
	target?: Target,
): Figure {
	return figure(
		what,
		'×',
		of.map((value, run) => value / (against[run] ?? Number.NaN)),
		target,
	);
}

/** The value at place floor(count × share) of the sorted values, counted from 0; `share` from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((one, other) => one - other);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Undefined if there is no target. The median is judged. */
export function isMet({ runs, target }: Figure): boolean | undefined {
	if (!target) return undefined;
	const value = median(runs);
	return value <= (target.atMost ?? Number.POSITIVE_INFINITY) && value >= (target.atLeast ?? 0);
}

/** The last result of a scenario, with its commit and machine. */
export interface SavedResult extends ScenarioResult {
	readonly about: string;
	readonly date: string;
	readonly commit: string;
	readonly scale: Scale;
	readonly machine: Readonly<Record<string, string | number>>;
}

export type Results = Readonly<Record<string, SavedResult>>;
