/** Counts latencies in steps of 10 µs, up to a second: no list grows while load is made. */

const STEP_MS = 0.01;
const STEPS = 100_000;

export class Latencies {
	private readonly counts = new Uint32Array(STEPS);
	private total = 0;

	add(ms: number): void {
		const step = Math.min(STEPS - 1, Math.floor(ms / STEP_MS));
		this.counts[step] = (this.counts[step] ?? 0) + 1;
		this.total += 1;
	}

	quantile(share: number): number {
		let left = this.total * share;
		for (let step = 0; step < STEPS; step += 1) {
			left -= this.counts[step] ?? 0;
			if (left <= 0) return (step + 1) * STEP_MS;
		}
		return STEPS * STEP_MS;
	}
}
