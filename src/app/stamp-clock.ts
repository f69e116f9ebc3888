import { uptime } from 'node:os';
import { steadyTime } from '../model/steady-time.ts';
import { type Clock, risingClock } from '../model/ts.ts';
import type { ServerOperations } from './operations.ts';

/** The clock that stamps changes, and the warnings when the machine's clock is set. */

export interface StampClock extends Clock {
	/** How far stamps are ahead of the clock in use (the machine's; in a cluster, that of Redis); negative while stamps do not follow a clock that was set forward. */
	aheadMicros(): number;
}

export const machineMicros = (): number => Date.now() * 1000;

/** A larger difference between two readings means that the clock was set or the machine slept. */
const STEP_MS = 2_000;

/**
 * Elapsed time, including the time that the machine slept, so that stamps follow the wall clock at once after a sleep. Only the system's
 * uptime counts sleep. Reading the uptime is slow and stamps are taken often, so it is read only when the wall clock has moved further
 * than this process's own clock.
 */
export function elapsedClock(uptimeSeconds: () => number): () => number {
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

/** The clock of a single machine. */
export function stampClock(startAfter: number, uptimeSeconds = uptime): StampClock {
	const time = steadyTime(machineMicros, elapsedClock(uptimeSeconds));
	const clock = risingClock(time.nowMicros, startAfter);
	return {
		...clock,
		aheadMicros: () => {
			const held = time.heldMicros();
			return held > 0 ? -held : Math.max(0, clock.last() - machineMicros());
		},
	};
}

/** The clock of a process in a cluster: it follows every correction at once, because other processes have the right time already. */
export function clusterStampClock(startAfter: number, nowMicros: () => number): StampClock {
	const clock = risingClock(nowMicros, startAfter);
	return { ...clock, aheadMicros: () => Math.max(0, clock.last() - nowMicros()) };
}

const CHECK_EVERY_MS = 10_000;
/** Smaller differences between two clocks are normal. */
const REPORTED_SECONDS = 2;

/** Exports how far stamps differ from the clock in use, and logs when the difference exceeds `REPORTED_SECONDS` and when it ends. */
export function watchClock(
	clock: Pick<StampClock, 'aheadMicros'>,
	operations: Pick<ServerOperations, 'gauge' | 'warn'>,
): { stop(): void } {
	const seconds = (): number => clock.aheadMicros() / 1e6;
	operations.gauge(
		'clock_drift_seconds',
		"How far new stamps are ahead of the machine's clock (in a cluster, of the clock of Redis); negative while stamps do not follow a clock that was set forward",
		seconds,
	);
	let isReported = false;
	const timer = setInterval(() => {
		const ahead = seconds();
		if (isReported === Math.abs(ahead) > REPORTED_SECONDS) return;
		isReported = !isReported;
		operations.warn(isReported ? reportOf(ahead) : 'New messages follow the clock again.');
	}, CHECK_EVERY_MS);
	timer.unref?.();
	return { stop: () => clearInterval(timer) };
}

const reportOf = (ahead: number): string =>
	ahead < 0
		? `The machine's clock was set forward by ${Math.round(-ahead)} s. For 5 minutes, new messages are stamped as if the clock had not been set; ` +
			'then they follow the new time. If the step was a mistake, set the clock back within that time.'
		: `New messages carry a time ${Math.round(ahead)} s ahead of the clock, because earlier messages do. ` +
			'Check that the clock is right; new messages follow it again when it has caught up.';
