import { Schedule, sendOnSchedule } from '../../src/load/schedule.ts';

/**
 * Calls at a steady rate, by the clock: a late call is sent at once, and its time counts from when it was due. So a
 * server that stalls does not look better because the client waited.
 */

export interface Timed {
	/** Milliseconds after the start at which the call was due. */
	readonly dueMs: number;
	readonly ms: number;
}

export async function paced(
	perSecond: number,
	seconds: number,
	call: (index: number) => Promise<unknown>,
): Promise<readonly Timed[]> {
	const began = performance.now();
	const calls: Promise<Timed>[] = [];
	const nowMs = (): number => performance.now() - began;
	const count = Math.round(perSecond * seconds);
	const dueBy = (ms: number): number => Math.min(count, Math.floor((ms / 1000) * perSecond) + 1);
	const clock = new Schedule(dueBy, (index) => {
		const dueMs = (index / perSecond) * 1000;
		calls.push(call(index).then(() => ({ dueMs, ms: nowMs() - dueMs })));
	});
	await sendOnSchedule([clock], { nowMs, endMs: seconds * 1000 });
	return Promise.all(calls);
}

/** The calls that were due in each window of this many milliseconds. */
export function windowsOf(calls: readonly Timed[], windowMs: number): readonly (readonly number[])[] {
	const windows: number[][] = [];
	for (const { dueMs, ms } of calls) {
		const at = Math.floor(dueMs / windowMs);
		while (windows.length <= at) windows.push([]);
		windows[at]?.push(ms);
	}
	return windows;
}
