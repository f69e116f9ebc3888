import type { Outcome } from './figures.ts';

/** What a scenario is, and what it is handed. */

export type Scale = 'quick' | 'standard' | 'full';

export interface Bench {
	readonly scale: Scale;
	/** Runs of every figure. */
	readonly runs: number;
	/** One of three, by scale. */
	pick<T>(quick: T, standard: T, full: T): T;
	progress(text: string): void;
	/** An empty directory on the disk that the repository is on; removed at the end. */
	directory(name: string): string;
	/** Has something done when the scenario is over, however it ends. */
	atEnd(undo: () => unknown): void;
}

export interface Scenario {
	readonly name: string;
	readonly about: string;
	run(bench: Bench): Promise<Outcome>;
}

/** What a scenario needs is not on this machine: reported as such, not as a failure of what is measured. */
export class NotHere extends Error {}
