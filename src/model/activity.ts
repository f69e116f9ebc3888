export interface ActivityChange {
	readonly at: number;
	readonly active: boolean;
}

/**
 * When a user was active, stored as changes between active and inactive. A message with `<!here>` is stored once, not per member;
 * whether it mentions a member follows from the member's activity at that time. On one machine, a restart of the server ends all
 * earlier activity.
 */
export class Activity {
	/** Changes in order, encoded as time * 2, plus 1 for a change to active: a single array saves memory, as every user has one. */
	private readonly changes: number[] = [];

	/** `starts`: when the server started, ascending; empty in a cluster. */
	constructor(
		private readonly starts: readonly number[],
		changes: readonly ActivityChange[] = [],
	) {
		for (const { at, active } of changes) this.add(at, active);
	}

	/** Must be called in order of time. */
	add(at: number, active: boolean): void {
		this.changes.push(at * 2 + (active ? 1 : 0));
	}

	get size(): number {
		return this.changes.length;
	}

	/** Time of the newest change; 0 if there is none. */
	get newest(): number {
		return Math.floor((this.changes.at(-1) ?? 0) / 2);
	}

	/** All changes, in order. */
	all(): ActivityChange[] {
		return this.changes.map((change) => ({ at: Math.floor(change / 2), active: change % 2 === 1 }));
	}

	isActiveAt(ts: number): boolean {
		const change = this.changes[lastAtOrBefore(this.changes, ts * 2 + 1)];
		if (change === undefined || change % 2 === 0) return false;
		const start = this.starts[lastAtOrBefore(this.starts, ts)];
		return start === undefined || start <= (change - 1) / 2;
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
