/**
 * How long reads may take in one turn of the event loop. A thousand users who come back at once ask for thousands of short
 * reads, each of which ends before the next begins: without a bound they would all run in one turn, and everybody else's
 * calls would wait for the last of them. What exceeds the budget waits for the next turn.
 *
 * Long jobs (resuming sockets, counts that go far back) wait in a queue of their own: of the reads admitted while both
 * queues are busy, every fourth is one of theirs, so that a post waits behind few of them and they still get on.
 */

const MOST_MS = 4;
const PATIENT_EVERY = 4;

type Waiting = (() => void)[];

export class TurnBudget {
	private spentMs = 0;
	private isOpen = false;
	private admitted = 0;
	private readonly prompt: Waiting = [];
	private readonly patient: Waiting = [];

	constructor(
		private readonly nowMs: () => number = () => performance.now(),
		private readonly mostMs = MOST_MS,
	) {}

	/** Runs `read` in this turn where there is room, or else in a later one. It runs as a whole, in one go. */
	async run<T>(read: () => T, isPatient = false): Promise<T> {
		const isBusy = this.prompt.length + this.patient.length > 0;
		if (this.spentMs >= this.mostMs || isBusy)
			await new Promise<void>((resolve) => (isPatient ? this.patient : this.prompt).push(resolve));
		this.open();
		const began = this.nowMs();
		try {
			return read();
		} finally {
			this.spentMs += this.nowMs() - began;
			this.admit();
		}
	}

	/** The first read of a turn has the turn's end noticed. */
	private open(): void {
		if (this.isOpen) return;
		this.isOpen = true;
		setImmediate(() => {
			this.isOpen = false;
			this.spentMs = 0;
			this.admit();
		});
	}

	/** One at a time: it admits the next when it is known how long it took. */
	private admit(): void {
		if (this.spentMs >= this.mostMs) return;
		this.admitted += 1;
		const [first, second] =
			this.admitted % PATIENT_EVERY === 0 ? [this.patient, this.prompt] : [this.prompt, this.patient];
		(first.shift() ?? second.shift())?.();
	}
}
