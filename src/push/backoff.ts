/** When to try again. Pure: randomness is handed in, so that a crowd that failed together does not return together. */

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

/** After so many tries a notification is dead. */
export const MOST_ATTEMPTS = 8;

/** Doubles from a second to five minutes, the later half of it at random; never before the provider asks for it. */
export function backOffMs(attempts: number, random: () => number, retryAfterMs = 0): number {
	const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, attempts - 1));
	return Math.max(retryAfterMs, Math.round(whole / 2 + (whole / 2) * random()));
}

/** Seconds, or a date; nothing where it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
	if (value === undefined) return undefined;
	if (/^\d{1,6}$/.test(value)) return Number(value) * 1000;
	const at = Date.parse(value);
	return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
