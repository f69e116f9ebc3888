/**
 * How long to wait before the next attempt. All of it is random up to a bound that doubles: when a server comes back, its
 * clients return spread over the whole time and not together.
 */

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

export function backoffMs(attempt: number, random: () => number): number {
	return Math.floor(random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 16)));
}
