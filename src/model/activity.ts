/**
 * When a user was active. Kept as the moments of change, so that a `<!here>` is stored once and each
 * member's part in it is derived. A start of the server ends what was going on before it.
 */
export class Activity {
	/** In order, each doubled, plus 1 where it began to be active: one list, for there is one of each user. */
	private moments: number[] = [];

	constructor(private readonly starts: readonly number[]) {}

	/** Moments come in order. */
	add(at: number, active: boolean): void {
		this.moments.push(at * 2 + (active ? 1 : 0));
	}

	/** The newest moment of change; 0 for none. */
	get newest(): number {
		return Math.floor((this.moments.at(-1) ?? 0) / 2);
	}

	/** Has these moments instead of those it had. */
	replace(moments: readonly { readonly at: number; readonly active: boolean }[]): void {
		this.moments = [];
		for (const { at, active } of moments) this.add(at, active);
	}

	isActiveAt(ts: number): boolean {
		const moment = this.moments[lastAtOrBefore(this.moments, ts * 2 + 1)];
		if (moment === undefined || moment % 2 === 0) return false;
		const start = this.starts[lastAtOrBefore(this.starts, ts)];
		return start === undefined || start <= (moment - 1) / 2;
	}
}

function lastAtOrBefore(sorted: readonly number[], ts: number): number {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((sorted[middle] as number) <= ts) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}
