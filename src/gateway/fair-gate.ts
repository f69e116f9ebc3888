/**
 * Runs work that takes much memory, a few jobs at a time. Each key has at most one running job, and keys take turns,
 * so the requests of one user delay only that user's later requests. Between two jobs the event loop serves other
 * requests.
 */
export class FairGate {
	private readonly running = new Set<string>();
	/** Keys in the order in which they get their turn. */
	private readonly waiting = new Map<string, (() => void)[]>();

	constructor(private readonly maxRunning: number) {}

	async run<T>(key: string, work: () => Promise<T>): Promise<T> {
		if (this.running.has(key) || this.running.size >= this.maxRunning) await this.turnOf(key);
		else this.running.add(key);
		try {
			return await work();
		} finally {
			// Leave this turn of the event loop first: otherwise a queue of large reads would delay all other requests.
			setImmediate(() => {
				this.running.delete(key);
				this.admitNext();
			});
		}
	}

	private turnOf(key: string): Promise<void> {
		return new Promise((resolve) => {
			const queue = this.waiting.get(key);
			if (queue) queue.push(resolve);
			else this.waiting.set(key, [resolve]);
		});
	}

	private admitNext(): void {
		for (const [key, queue] of this.waiting) {
			if (this.running.size >= this.maxRunning) return;
			if (this.running.has(key)) continue;
			const [first, ...rest] = queue;
			this.waiting.delete(key);
			// Moves the key behind the other keys.
			if (rest.length > 0) this.waiting.set(key, rest);
			this.running.add(key);
			first?.();
		}
	}
}
