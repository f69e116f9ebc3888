/** Seeded randomness: the same seed gives the same history, on every machine and every run. */

export class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed | 0;
	}

	/** mulberry32: a number in [0, 1). */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	}

	/** An integer in [0, bound). */
	below(bound: number): number {
		return Math.floor(this.next() * bound);
	}

	chance(probability: number): boolean {
		return this.next() < probability;
	}

	/** Always draws once, even from an empty list, so that later draws do not depend on the length of the list. */
	pick<T>(list: readonly T[]): T | undefined {
		return list[this.below(list.length)];
	}

	/** Mostly one of the last few: cursors are there, and counts change there. */
	pickRecent<T>(list: readonly T[], window = 8): T | undefined {
		const recent = this.chance(0.8);
		return this.pick(recent ? list.slice(-window) : list);
	}

	weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
		const entries = Object.entries(weights) as [T, number][];
		let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
		for (const [name, weight] of entries) {
			left -= weight;
			if (left < 0) {
				return name;
			}
		}
		throw new Error('weights must have a positive sum');
	}
}
