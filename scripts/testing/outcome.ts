/** What all of the checks and tests come to: whatever is wrong is a line in `failures`, and nothing is wrong without one. */
export interface Outcome {
	passed: number;
	readonly failures: string[];
	/** What the failed tests printed, in short. */
	readonly excerpts: string[];
}
