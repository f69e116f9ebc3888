/**
 * A histogram of latencies whose buckets grow by half a percent: microseconds and minutes are equally precise, and
 * memory does not grow during the run.
 */

const GROWTH = 1.005;
const PER_STEP = Math.log(GROWTH);
const MICROS = 1_000;
/** Up to an hour; longer latencies count as an hour. */
const STEPS = Math.ceil(Math.log(3_600_000 * MICROS) / PER_STEP);

export interface Summary {
	readonly p50: number;
	readonly p95: number;
	readonly p99: number;
	readonly max: number;
}

export class Latencies {
	private readonly counts = new Uint32Array(STEPS);
	private largest = 0;
	count = 0;

	add(ms: number): void {
		const step = ms <= 1 / MICROS ? 0 : Math.min(STEPS - 1, Math.floor(Math.log(ms * MICROS) / PER_STEP));
		this.counts[step] = (this.counts[step] ?? 0) + 1;
		this.count += 1;
		if (ms > this.largest) this.largest = ms;
	}

	/** The upper end of the bucket: never below the true value, never above the maximum. */
	quantile(share: number): number {
		let left = this.count * share;
		for (let step = 0; step < STEPS; step += 1) {
			left -= this.counts[step] ?? 0;
			if (left <= 0) return Math.min(this.largest, GROWTH ** (step + 1) / MICROS);
		}
		return this.largest;
	}

	/** Null if nothing was measured. */
	summary(): Summary | null {
		if (this.count === 0) return null;
		const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => hundredths(this.quantile(share)));
		return { p50, p95, p99, max } as Summary;
	}

	clear(): void {
		this.counts.fill(0);
		this.count = 0;
		this.largest = 0;
	}
}

const hundredths = (ms: number): number => Math.round(ms * 100) / 100;
