/** Assigns small numbers to ids, so that packed arrays can hold them. Numbers are never reused. */
export class Numbering {
	private readonly numbers = new Map<string, number>();
	private readonly ids: string[] = [];

	get size(): number {
		return this.ids.length;
	}

	of(id: string): number {
		const known = this.numbers.get(id);
		if (known !== undefined) return known;
		const number = this.ids.length;
		this.numbers.set(id, number);
		this.ids.push(id);
		return number;
	}

	/** The number of an id, if it has one; assigns none. */
	peek(id: string): number | undefined {
		return this.numbers.get(id);
	}

	id(number: number): string {
		return this.ids[number] as string;
	}
}
