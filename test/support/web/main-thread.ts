import type { Page } from 'playwright-core';

/**
 * How long the main thread of a page computes without a break, which delays a frame. Chromium's trace has the CPU time
 * of each task, which does not depend on how busy the machine is.
 */

interface TraceEvent {
	readonly name: string;
	readonly ph: string;
	readonly pid: number;
	readonly tid: number;
	/** CPU time of the thread, in microseconds. */
	readonly tdur?: number;
}

const TASK = 'RunTask';
const CATEGORIES = ['disabled-by-default-devtools.timeline', 'blink.user_timing'];
/** The page sets this mark, which identifies its thread in the trace. */
const MARK = 'traced';

export interface Tasks {
	readonly count: number;
	readonly longestMs: number;
	readonly totalMs: number;
}

/** The tasks of this page while `work` runs. */
export async function traceTasks(page: Page, work: () => Promise<unknown>): Promise<Tasks> {
	const session = await page.context().browser()?.newBrowserCDPSession();
	if (!session) throw new Error('the page has no browser');
	const events: TraceEvent[] = [];
	session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
	const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
	await session.send('Tracing.start', { traceConfig: { includedCategories: CATEGORIES } });
	try {
		await page.evaluate(`performance.mark('${MARK}')`);
		await work();
	} finally {
		await session.send('Tracing.end');
	}
	await complete;
	await session.detach();
	const mark = events.find(({ name }) => name === MARK);
	const tasks = events.filter(
		({ name, ph, pid, tid }) => name === TASK && ph === 'X' && pid === mark?.pid && tid === mark?.tid,
	);
	if (!tasks.some(({ tdur }) => tdur !== undefined))
		throw new Error('the trace has no CPU times of the page: this Chromium does not record them');
	const timesMs = tasks.map(({ tdur = 0 }) => tdur / 1_000);
	return {
		count: tasks.length,
		longestMs: Math.max(...timesMs),
		totalMs: timesMs.reduce((sum, time) => sum + time, 0),
	};
}
