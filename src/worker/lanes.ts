/**
 * Runs the work of each key in order, one piece after the other. Keys do not wait for each other: a conversation that has
 * to be loaded first delays nobody else's.
 */
export class Lanes<T> {
	/** By key, while its work runs: what came since. */
	private readonly waiting = new Map<string, T[]>();

	/** `work` must not throw. */
	constructor(private readonly work: (item: T) => Promise<void>) {}

	add(key: string, item: T): void {
		const waiting = this.waiting.get(key);
		if (waiting) waiting.push(item);
		else void this.run(key, [item]);
	}

	private async run(key: string, first: readonly T[]): Promise<void> {
		for (let batch = first; batch.length > 0; ) {
			const next: T[] = [];
			this.waiting.set(key, next);
			for (const item of batch) await this.work(item);
			batch = next;
		}
		this.waiting.delete(key);
	}
}
