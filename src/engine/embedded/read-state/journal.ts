/** Numbers of conversations in the order of their changes, for caches over very many conversations. */

/** The journal keeps at least this many of the newest changes; a cache that needs older ones is recomputed. */
const KEPT_CHANGES = 1 << 16;

export class Journal {
	private numbers: number[] = [];
	private dropped = 0;

	get end(): number {
		return this.dropped + this.numbers.length;
	}

	add(conversation: number): void {
		this.numbers.push(conversation);
		if (this.numbers.length < 2 * KEPT_CHANGES) return;
		this.numbers = this.numbers.slice(KEPT_CHANGES);
		this.dropped += KEPT_CHANGES;
	}

	/** Undefined if these changes are no longer in the journal. */
	since(end: number): readonly number[] | undefined {
		return end < this.dropped ? undefined : this.numbers.slice(end - this.dropped);
	}
}
