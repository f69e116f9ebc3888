/** Numbers of conversations in the order in which they changed, for readers that remember something of very many of them. */

/** Beyond, such a reader looks at all of them again. */
const KEPT = 1 << 16;

export class Journal {
	private numbers: number[] = [];
	private dropped = 0;

	get end(): number {
		return this.dropped + this.numbers.length;
	}

	add(conversation: number): void {
		this.numbers.push(conversation);
		if (this.numbers.length < 2 * KEPT) return;
		this.numbers = this.numbers.slice(KEPT);
		this.dropped += KEPT;
	}

	/** Undefined where it is too long ago. */
	since(end: number): readonly number[] | undefined {
		return end < this.dropped ? undefined : this.numbers.slice(end - this.dropped);
	}
}
