/** Runs a history on a server and on the oracle side by side, and reports the first difference. */

import { compareAll, emptyTally, type Tally } from './compare.ts';
import type { Driver } from './driver.ts';
import { CONVERSATIONS } from './history.ts';
import type { Operation, OperationKind, PlannedOperation } from './operations.ts';
import type { Oracle } from './oracle.ts';
import { perform } from './perform.ts';
import { resolve } from './resolve.ts';
import type { World } from './scene.ts';

export interface RunOptions {
	/** The server's ids of the USER_COUNT users, in the same order in every run. */
	users: readonly string[];
	/** Compares after every step, only at the end, or after every nth step and at the end. */
	check: 'every' | 'end' | number;
}

/** What a run really covered: a history that skipped everything must not look like a success. */
export interface RunReport {
	performed: Partial<Record<OperationKind, number>>;
	skipped: number;
	compared: Tally;
}

/** How many operations before the failing one are reported. */
const REMEMBERED = 12;

export class HistoryFailure extends Error {
	constructor(planned: PlannedOperation, trace: readonly string[], what: string, cause?: unknown) {
		super(
			[
				`seed ${planned.history}, step ${planned.step}: ${what}`,
				`the last operations before it, newest last:`,
				...trace.map((line) => `  ${line}`),
			].join('\n'),
			{ cause },
		);
		this.name = 'HistoryFailure';
	}
}

function interval(check: RunOptions['check']): number {
	if (check === 'every') {
		return 1;
	}
	return check === 'end' ? Number.POSITIVE_INFINITY : check;
}

function describe(planned: PlannedOperation, operation: Operation): string {
	return `${planned.step}: ${JSON.stringify(operation)}`;
}

export async function runHistory(
	driver: Driver,
	oracle: Oracle,
	operations: Iterable<PlannedOperation>,
	options: RunOptions,
): Promise<RunReport> {
	const world: World = { users: options.users, conversations: CONVERSATIONS.map(() => undefined) };
	const report: RunReport = { performed: {}, skipped: 0, compared: emptyTally() };
	const every = interval(options.check);
	const trace: string[] = [];
	let unchecked = 0;
	let last: PlannedOperation | undefined;

	const check = async (planned: PlannedOperation) => {
		unchecked = 0;
		const found = await compareAll(driver, oracle, world, report.compared);
		if (found !== undefined) {
			const values = `oracle ${JSON.stringify(found.oracle)}, server ${JSON.stringify(found.server)}`;
			throw new HistoryFailure(planned, trace, `${found.path}: ${values}`);
		}
	};

	for (const planned of operations) {
		const operation = resolve(planned, oracle, world);
		if (operation === undefined) {
			report.skipped += 1;
			continue;
		}
		trace.push(describe(planned, operation));
		trace.splice(0, trace.length - REMEMBERED);
		last = planned;
		try {
			await perform(driver, oracle, world, operation);
		} catch (error) {
			throw new HistoryFailure(planned, trace, `${operation.kind} failed: ${String(error)}`, error);
		}
		report.performed[operation.kind] = (report.performed[operation.kind] ?? 0) + 1;
		unchecked += 1;
		if (unchecked >= every) {
			await check(planned);
		}
	}
	if (unchecked > 0 && last !== undefined) {
		await check(last);
	}
	return report;
}
