/**
 * Calls `send` for each number when it is due, in order. Late ones are sent at once: the load does not shrink when
 * the server or this process is slow.
 */
export class Schedule {
	private sent = 0;

	constructor(
		/** How many are due at this time, in ms since the start. */
		private readonly dueBy: (ms: number) => number,
		private readonly send: (number: number) => void,
	) {}

	sendDue(ms: number): void {
		for (const due = this.dueBy(ms); this.sent < due; this.sent += 1) this.send(this.sent);
	}
}

const EVERY_MS = 1;

/** Sends everything that is due by the end, however late. Ends early if `isStopped` returns true. */
export async function sendOnSchedule(
	schedules: readonly Schedule[],
	{ nowMs, endMs, isStopped }: { nowMs: () => number; endMs: number; isStopped?: (now: number) => boolean },
): Promise<void> {
	for (let isAtEnd = false; !isAtEnd; await Bun.sleep(EVERY_MS)) {
		const now = nowMs();
		if (isStopped?.(now)) return;
		isAtEnd = now >= endMs;
		for (const schedule of schedules) schedule.sendDue(now);
	}
}
