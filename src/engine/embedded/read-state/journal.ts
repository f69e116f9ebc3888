/** Numbers of conversations in the order of their changes, for caches over very many conversations. */

/** Older changes are dropped: the cache is recomputed then. */
const MAX_CHANGES = 1 << 16;

export class Journal {
	private numbers: number[] = [];
	private dropped = 0;

	get end(): number {
		return this.dropped + this.numbers.length;
	}

	add(conversation: number): void {
		this.numbers.push(conversation);
		if (this.numbers.length < 2 * MAX_CHANGES) return;
		this.numbers = this.numbers.slice(MAX_CHANGES);
		this.dropped += MAX_CHANGES;
	}

	/** Undefined if these changes are no longer in the journal. */
	since(end: number): readonly number[] | undefined {
		return end < this.dropped ? undefined : this.numbers.slice(end - this.dropped);
	}
}
