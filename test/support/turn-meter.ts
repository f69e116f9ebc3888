import type { StateSource } from '../../src/engine/ports/store.ts';

/**
 * Counts (instead of timing) the work in each turn of the event loop. All other requests wait while the largest turn
 * runs.
 */
export class TurnMeter {
	/** The most work in one turn. */
	largest = 0;
	total = 0;
	private now = 0;
	private ticking = true;

	constructor() {
		this.tick();
	}

	add(amount: number): void {
		this.total += amount;
		this.now += amount;
		this.largest = Math.max(this.largest, this.now);
	}

	reset(): void {
		this.largest = 0;
		this.total = 0;
		this.now = 0;
	}

	stop(): void {
		this.ticking = false;
	}

	private tick(): void {
		this.now = 0;
		if (this.ticking) setImmediate(() => this.tick());
	}
}

/** Counts the rows that the source reads, in place, so that engines that are already open are measured too. */
export function meterRows(source: StateSource, meter: TurnMeter): void {
	const target = source as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
	for (const [name, read] of Object.entries(target)) {
		target[name] = async (...args) => {
			const answer = await read(...args);
			meter.add(rowsIn(answer));
			return answer;
		};
	}
}

function rowsIn(answer: unknown): number {
	if (Array.isArray(answer)) return answer.length;
	if (answer instanceof Map) return [...answer.values()].reduce((sum: number, one) => sum + rowsIn(one), 0);
	if (answer !== null && typeof answer === 'object' && ('memberships' in answer || 'entries' in answer))
		return Object.values(answer).reduce((sum: number, one) => sum + (Array.isArray(one) ? one.length : 0), 0);
	return 1;
}
