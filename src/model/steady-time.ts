/**
 * The time of day as stamps follow it. A stamp can never be taken back, so a clock that is set forward by mistake would leave
 * its time in every message from then on. A step forward is followed only after it has lasted for `HOLD_MICROS`; until then time
 * goes on at its own pace. Steps back are followed at once: the rising clock keeps stamps in order.
 *
 * Pure: both clocks are handed in. `elapsedMicros` counts time that passes, whatever the time of day is set to.
 */

/** Clocks that are kept in time are corrected by less. */
export const TOLERATED_MICROS = 2_000_000;
export const HOLD_MICROS = 300_000_000;

export interface SteadyTime {
	nowMicros(): number;
	/** By how much the machine's clock is ahead of what is handed out; 0 when it is followed. */
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
