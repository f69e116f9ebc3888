/**
 * Work that takes much memory, a few at a time. Of one key one runs at once, and keys take turns: a user who asks for a lot
 * waits behind their own calls, not in front of others. Between two of them the event loop serves everybody else.
 */
export class FairGate {
	private readonly running = new Set<string>();
	/** Keys in the order of their turns. */
	private readonly waiting = new Map<string, (() => void)[]>();

	constructor(private readonly atOnce: number) {}

	async run<T>(key: string, work: () => Promise<T>): Promise<T> {
		if (this.running.has(key) || this.running.size >= this.atOnce) await this.turnOf(key);
		else this.running.add(key);
		try {
			return await work();
		} finally {
			// Not in this turn of the event loop: a queue of large reads would keep everybody else's calls waiting.
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
			if (this.running.size >= this.atOnce) return;
			if (this.running.has(key)) continue;
			const [first, ...rest] = queue;
			this.waiting.delete(key);
			// Behind the other keys.
			if (rest.length > 0) this.waiting.set(key, rest);
			this.running.add(key);
			first?.();
		}
	}
}
