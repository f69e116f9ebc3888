/**
 * When to retry. Pure: randomness is passed in. It spreads the retries of notifications that failed together.
 */

const FIRST_MS = 1_000;
const MAX_MS = 300_000;

/** After this many attempts a notification is abandoned. */
export const MAX_ATTEMPTS = 8;

/** Doubles from one second to five minutes; the second half is random. Never before the provider's Retry-After. */
export function backOffMs(attempts: number, random: () => number, retryAfterMs = 0): number {
	const whole = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
	return Math.max(retryAfterMs, Math.round(whole / 2 + (whole / 2) * random()));
}

/** Parses seconds or a date; undefined for anything else. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
	if (value === undefined) return undefined;
	if (/^\d{1,6}$/.test(value)) return Number(value) * 1000;
	const at = Date.parse(value);
	return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
