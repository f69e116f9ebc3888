import type { Outcome } from './figures.ts';
import type { Scale } from './scenario.ts';

/** The last result of a scenario, with its commit and machine. */
export interface SavedResult extends Outcome {
	readonly about: string;
	readonly date: string;
	readonly commit: string;
	readonly scale: Scale;
	readonly machine: Readonly<Record<string, string | number>>;
}

export type Results = Readonly<Record<string, SavedResult>>;
