/**
 * The delay before the next attempt: fully random up to a bound that doubles, so that clients of a restarted server
 * return spread over the whole time.
 */

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

export function backoffMs(attempt: number, random: () => number): number {
	return Math.floor(random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 16)));
}
