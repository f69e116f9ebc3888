/**
 * Limits how fast notifications of one user become due: a burst at once, the rest at a steady rate. Notifications are
 * processed in the order in which they become due, so a user with thousands of them takes a small share, and other
 * users are served in between.
 *
 * In memory and per process: after a restart every user has a full burst.
 */

const PER_SECOND = 50;
/** Several notifications at once for each device; a user has at most 20 devices. */
export const BURST = 100;
const STEP_MS = 1000 / PER_SECOND;
/** How often entries of users with a full burst are dropped. */
const FORGET_EVERY_MS = 60_000;

export class UserPace {
	/**
	 * By user: the newest slot taken. Slots are `STEP_MS` apart, and each notification takes the next one. A user who was quiet has `BURST`
	 * unused slots in the past, and a notification whose slot is in the past is due at once.
	 */
	private readonly newestSlots = new Map<string, number>();
	private forgottenAt = 0;

	constructor(private readonly nowMs: () => number) {}

	/** Schedules one more for the user; returns its delay in ms. */
	next(user: string): number {
		const now = this.nowMs();
		this.forget(now);
		const slot = Math.max(now - BURST * STEP_MS, this.newestSlots.get(user) ?? 0) + STEP_MS;
		this.newestSlots.set(user, slot);
		return Math.max(0, Math.round(slot - now));
	}

	get size(): number {
		return this.newestSlots.size;
	}

	private forget(now: number): void {
		if (now - this.forgottenAt < FORGET_EVERY_MS) return;
		this.forgottenAt = now;
		for (const [user, slot] of this.newestSlots)
			if (slot <= now - BURST * STEP_MS) this.newestSlots.delete(user);
	}
}
