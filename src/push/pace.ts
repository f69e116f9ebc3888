/**
 * How fast notifications of one user become due: a burst at once, the rest at a steady rate. Sends are taken in the order
 * in which they become due, so a user with thousands of them takes a small share of what the providers take, and everybody
 * else is served in between.
 *
 * Kept in memory and per process: after a restart every user begins with a whole burst.
 */

const PER_SECOND = 50;
/** Every device of a user (20 at most) gets several notifications at once. */
export const BURST = 100;
const STEP_MS = 1000 / PER_SECOND;
/** Users who are within their burst again are forgotten, this often at most. */
const FORGET_EVERY_MS = 60_000;

export class Pace {
	/** When the notification that was last scheduled for the user becomes due, less the burst. */
	private readonly tails = new Map<string, number>();
	private forgottenAt = 0;

	constructor(private readonly nowMs: () => number) {}

	/** Schedules one more for the user; returns for how many ms it has to wait. */
	next(user: string): number {
		const now = this.nowMs();
		this.forget(now);
		const tail = Math.max(now - BURST * STEP_MS, this.tails.get(user) ?? 0) + STEP_MS;
		this.tails.set(user, tail);
		return Math.max(0, Math.round(tail - now));
	}

	get size(): number {
		return this.tails.size;
	}

	private forget(now: number): void {
		if (now - this.forgottenAt < FORGET_EVERY_MS) return;
		this.forgottenAt = now;
		for (const [user, tail] of this.tails) if (tail <= now - BURST * STEP_MS) this.tails.delete(user);
	}
}
