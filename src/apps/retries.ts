/** When an event is retried, and when it is dropped. Pure. */

export interface RetryRules {
	/** Pauses after the first failure, the second and so on; the last one repeats. */
	readonly pausesMs: readonly number[];
	/** An event whose first attempt is older is dropped at its next failure. */
	readonly giveUpAfterMs: number;
	/** An app whose deliveries over HTTP have all failed for this long is paused. */
	readonly pauseAppAfterMs: number;
}

export const RETRY_RULES: RetryRules = {
	pausesMs: [1_000, 10_000, 60_000, 300_000],
	giveUpAfterMs: 3_600_000,
	pauseAppAfterMs: 3_600_000,
};

/** Null: drop the event. */
export function nextTryAt(rules: RetryRules, attempts: number, firstAt: number, now: number): number | null {
	if (now - firstAt >= rules.giveUpAfterMs) return null;
	const pause = rules.pausesMs[Math.min(attempts, rules.pausesMs.length) - 1] ?? 1_000;
	return now + pause;
}
