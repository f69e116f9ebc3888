/** When an event is tried again, and when it is given up. Pure. */

export interface RetryRules {
	/** After the first failure, the second and so on; the last one repeats. */
	readonly pausesMs: readonly number[];
	/** An event that was first tried so long ago is given up at its next failure. */
	readonly giveUpAfterMs: number;
	/** An app whose every delivery has failed for so long is paused. */
	readonly pauseAppAfterMs: number;
}

export const RETRY_RULES: RetryRules = {
	pausesMs: [1_000, 10_000, 60_000, 300_000],
	giveUpAfterMs: 3_600_000,
	pauseAppAfterMs: 3_600_000,
};

/** Null: it is given up. */
export function nextTryAt(rules: RetryRules, attempts: number, firstAt: number, now: number): number | null {
	if (now - firstAt >= rules.giveUpAfterMs) return null;
	const pause = rules.pausesMs[Math.min(attempts, rules.pausesMs.length) - 1] ?? 1_000;
	return now + pause;
}
