/** The result of all checks and tests. Every problem is a line in `failures`; without lines the run has passed. */
export interface Outcome {
	passed: number;
	readonly failures: string[];
	/** Last lines of output of the failed tests. */
	readonly excerpts: string[];
}
