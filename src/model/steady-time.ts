/**
 * The clock that stamps are taken from. A stamp can never be taken back, so a machine's clock set forward by mistake would spoil the
 * order of all later messages. This clock follows a step forward of more than `TOLERATED_MICROS` only after the step has lasted for
 * `HOLD_MICROS`; until then it advances by the elapsed time. It follows steps back at once: the rising clock (ts.ts) keeps stamps in order.
 *
 * Pure: both clocks are passed in. `elapsedMicros` is monotonic.
 */

/** Corrections by NTP are smaller than this. */
export const TOLERATED_MICROS = 2_000_000;
export const HOLD_MICROS = 300_000_000;

export interface SteadyTime {
	nowMicros(): number;
	/** How far the machine's clock is ahead of this one; 0 while this one follows it. */
	heldMicros(): number;
}

export function steadyTime(wallMicros: () => number, elapsedMicros: () => number): SteadyTime {
	let offset = wallMicros() - elapsedMicros();
	let steppedAt: number | undefined;
	let held = 0;
	const nowMicros = (): number => {
		const wall = wallMicros();
		const elapsed = elapsedMicros();
		const step = wall - (elapsed + offset);
		if (step > TOLERATED_MICROS) {
			steppedAt ??= elapsed;
			if (elapsed - steppedAt < HOLD_MICROS) {
				held = step;
				return elapsed + offset;
			}
		}
		steppedAt = undefined;
		held = 0;
		offset = wall - elapsed;
		return wall;
	};
	return {
		nowMicros,
		heldMicros: () => {
			nowMicros();
			return held;
		},
	};
}
