/** Small numbers for long ids, so that packed arrays can hold them. Numbers are never given back. */
export class Numbering {
	private readonly numbers = new Map<string, number>();
	private readonly ids: string[] = [];

	of(id: string): number {
		const known = this.numbers.get(id);
		if (known !== undefined) return known;
		const number = this.ids.length;
		this.numbers.set(id, number);
		this.ids.push(id);
		return number;
	}

	id(number: number): string {
		return this.ids[number]!;
	}
}
