/**
 * The delay before the next attempt: random between 0 and a bound that doubles with each attempt, so that clients do
 * not all return to a restarted server at the same moment.
 */

const FIRST_BOUND_MS = 500;
const MAX_BOUND_MS = 30_000;

export function backoffMs(attempt: number, random: () => number): number {
	return Math.floor(random() * Math.min(MAX_BOUND_MS, FIRST_BOUND_MS * 2 ** Math.min(attempt, 16)));
}
