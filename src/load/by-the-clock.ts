/**
 * Calls `send` for each number when it is due, in order. What is late is sent at once: the load does not shrink where the server,
 * or this process, is slow.
 */
export class ByTheClock {
	private sent = 0;

	constructor(
		/** How many are due by a time; ms since the beginning. */
		private readonly dueBy: (ms: number) => number,
		private readonly send: (number: number) => void,
	) {}

	sendDue(ms: number): void {
		for (const due = this.dueBy(ms); this.sent < due; this.sent += 1) this.send(this.sent);
	}
}

const EVERY_MS = 1;

/** Sends all that is due by the end, however late it is by then. Ends early where `isOver` says so. */
export async function sendByTheClock(
	clocks: readonly ByTheClock[],
	{ nowMs, endMs, isOver }: { nowMs: () => number; endMs: number; isOver?: (now: number) => boolean },
): Promise<void> {
	for (let isAtEnd = false; !isAtEnd; await Bun.sleep(EVERY_MS)) {
		const now = nowMs();
		if (isOver?.(now)) return;
		isAtEnd = now >= endMs;
		for (const clock of clocks) clock.sendDue(now);
	}
}
