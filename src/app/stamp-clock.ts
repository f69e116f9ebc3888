import { uptime } from 'node:os';
import { steadyTime } from '../model/steady-time.ts';
import { type Clock, risingClock } from '../model/ts.ts';
import type { ServerOperations } from './operations.ts';

/** The clock that stamps what happens, and what an operator learns when the machine's clock is set. */

export interface StampClock extends Clock {
	/** By how much stamps are ahead of the machine's clock; negative while a step forward is not followed yet. */
	driftMicros(): number;
}

const wallMicros = (): number => Date.now() * 1000;

/** More than this between two looks is a step of the clock, or the machine slept. */
const STEP_MS = 2_000;

/**
 * Time that passes, a machine's sleep included: what was slept through is followed at once. Only the system's uptime counts
 * sleep; it is read when the time of day has moved by more than this process saw pass, since stamps are taken all the time.
 */
function elapsedClock(uptimeSeconds: () => number): () => number {
	const offset = uptimeSeconds() * 1000 - performance.now();
	let ahead = Date.now() - performance.now();
	let slept = 0;
	return () => {
		const now = performance.now();
		const difference = Date.now() - now;
		if (difference > ahead + STEP_MS) {
			const missing = uptimeSeconds() * 1000 - now - offset;
			if (missing > slept + STEP_MS) slept = missing;
		}
		ahead = difference;
		return Math.round((now + slept) * 1000);
	};
}

export function stampClock(startAfter: number, uptimeSeconds = uptime): StampClock {
	const time = steadyTime(wallMicros, elapsedClock(uptimeSeconds));
	const clock = risingClock(time.nowMicros, startAfter);
	return {
		...clock,
		driftMicros: () => {
			const held = time.heldMicros();
			return held > 0 ? -held : Math.max(0, clock.last() - wallMicros());
		},
	};
}

const LOOK_EVERY_MS = 10_000;
/** Less is what any two clocks differ by. */
const REPORTED_SECONDS = 2;

/** Exposes the drift as a metric, and logs when it begins and ends. */
export function watchClock(
	clock: Pick<StampClock, 'driftMicros'>,
	operations: Pick<ServerOperations, 'gauge' | 'warn'>,
): { stop(): void } {
	const seconds = (): number => clock.driftMicros() / 1e6;
	operations.gauge(
		'clock_drift_seconds',
		"How far new stamps are ahead of the machine's clock; negative while a forward step of the clock is held back",
		seconds,
	);
	let isReported = false;
	const timer = setInterval(() => {
		const drift = seconds();
		if (isReported === Math.abs(drift) > REPORTED_SECONDS) return;
		isReported = !isReported;
		operations.warn(isReported ? reportOf(drift) : "New messages follow the machine's clock again.");
	}, LOOK_EVERY_MS);
	timer.unref?.();
	return { stop: () => clearInterval(timer) };
}

const reportOf = (drift: number): string =>
	drift < 0
		? `The machine's clock was set forward by ${Math.round(-drift)} s. New messages keep the old time for 5 minutes, then follow it. ` +
			'If the step was a mistake, set the clock back within that time.'
		: `New messages carry a time ${Math.round(drift)} s ahead of the machine's clock, because earlier ones do. ` +
			'Check that the clock is right; stamps follow it again when it has caught up.';
