import type { ScenarioResult } from './figures.ts';

/** What a scenario is, and what it gets. */

export type Scale = 'quick' | 'standard' | 'full';

export interface Bench {
	readonly scale: Scale;
	/** Number of runs of every figure. */
	readonly runs: number;
	/** One of three values, by scale. */
	pick<T>(quick: T, standard: T, full: T): T;
	progress(text: string): void;
	/** An empty directory on the repository's disk; removed at the end. */
	directory(name: string): string;
	/** Runs the callback when the scenario is over, however it ends. */
	atEnd(undo: () => unknown): void;
}

export interface Scenario {
	readonly name: string;
	readonly about: string;
	run(bench: Bench): Promise<ScenarioResult>;
}

/** Something that a scenario needs is missing on this machine: reported as such, not as a failure of the measured code. */
export class MissingRequirement extends Error {}
