/**
 * Returns one string for all equal ones: a string that every socket or every account keeps is in memory once. Clients choose some of
 * these strings, so sharing starts over when there are `MAX_STRINGS`.
 */

const MAX_STRINGS = 1_000;

export class SharedStrings {
	private readonly known = new Map<string, string>();

	of(text: string): string {
		const known = this.known.get(text);
		if (known !== undefined) return known;
		if (this.known.size >= MAX_STRINGS) this.known.clear();
		this.known.set(text, text);
		return text;
	}
}
