/**
 * When a user was active. Kept as the moments of change, so that a `<!here>` is stored once and each
 * member's part in it is derived. A start of the server ends what was going on before it.
 */
export class Activity {
	private readonly moments: number[] = [];
	private readonly states: boolean[] = [];

	constructor(private readonly starts: readonly number[]) {}

	/** Moments come in order. */
	add(at: number, active: boolean): void {
		this.moments.push(at);
		this.states.push(active);
	}

	isActiveAt = (ts: number): boolean => {
		const index = lastAtOrBefore(this.moments, ts);
		if (index < 0 || !this.states[index]) return false;
		const start = lastAtOrBefore(this.starts, ts);
		return start < 0 || (this.starts[start] as number) <= (this.moments[index] as number);
	};
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
