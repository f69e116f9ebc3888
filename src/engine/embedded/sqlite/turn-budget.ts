/**
 * Limits how long reads may take in one turn of the event loop. A thousand users who reconnect at once cause thousands of short
 * reads, each of which ends before the next begins: without a limit all of them would run in one turn, and other requests
 * would wait for the last one. Reads beyond the budget wait for the next turn.
 *
 * Reads of long jobs (resuming sockets, counts of users who are far behind) have a separate queue. While both queues are busy, every
 * fourth read comes from the queue of long jobs, so that a post waits for few of their reads and they still make progress.
 */

const MAX_MS = 4;
const LOW_PRIORITY_EVERY = 4;

type Waiting = (() => void)[];

export class TurnBudget {
	private spentMs = 0;
	private isOpen = false;
	private admitted = 0;
	private readonly normal: Waiting = [];
	private readonly lowPriority: Waiting = [];

	constructor(
		private readonly nowMs: () => number = () => performance.now(),
		private readonly mostMs = MAX_MS,
	) {}

	/** Runs `read` in this turn if the budget allows, otherwise in a later one. A read is never interrupted. */
	async run<T>(read: () => T, isLowPriority = false): Promise<T> {
		const isBusy = this.normal.length + this.lowPriority.length > 0;
		if (this.spentMs >= this.mostMs || isBusy)
			await new Promise<void>((resolve) => (isLowPriority ? this.lowPriority : this.normal).push(resolve));
		this.open();
		const began = this.nowMs();
		try {
			return read();
		} finally {
			this.spentMs += this.nowMs() - began;
			this.admit();
		}
	}

	/** The first read of a turn schedules the end of the turn. */
	private open(): void {
		if (this.isOpen) return;
		this.isOpen = true;
		setImmediate(() => {
			this.isOpen = false;
			this.spentMs = 0;
			this.admit();
		});
	}

	/** Admits one read at a time: the next when it is known how long this one took. */
	private admit(): void {
		if (this.spentMs >= this.mostMs) return;
		this.admitted += 1;
		const [first, second] =
			this.admitted % LOW_PRIORITY_EVERY === 0
				? [this.lowPriority, this.normal]
				: [this.normal, this.lowPriority];
		(first.shift() ?? second.shift())?.();
	}
}
