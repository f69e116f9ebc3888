import type { RandomBytes } from '../model/ids.ts';

/** The clocks and the randomness of this process, which the composition passes to all other parts. */

/** Wall clock, for tokens and other absolute times. */
export const nowMs = (): number => Date.now();

/** Monotonic clock, for limits and durations: unaffected when the wall clock is set. */
export const steadyMs = (): number => performance.now();

export const random: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
