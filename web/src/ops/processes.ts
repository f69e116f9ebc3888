import type { Scrape } from './charts.ts';
import { type Degraded, degradedFrom } from './readiness.ts';

/**
 * The processes that have answered, each with its own metrics. Behind a load balancer, any process may answer the next request, so
 * the page never compares counters of different processes.
 */

/** Ten minutes, one sample every two seconds. */
const MAX_SCRAPES = 300;
/** A process is reported if it has not answered for this long while others have. */
const SILENT_MS = 30_000;
const FORGOTTEN_MS = 5 * 60_000;

export interface Process {
	readonly id: string;
	/** `server`: every role in one process. Otherwise `gateway`; requests never reach a worker. */
	readonly role: string;
	readonly scrapes: readonly Scrape[];
	readonly degraded: readonly Degraded[];
	/** Milliseconds since 1970. */
	readonly answeredAt: number;
}

/** An answer of a process to /metrics or /readyz. */
export interface Answer {
	readonly id: string;
	readonly role: string;
	readonly scrape?: Scrape;
	readonly degraded?: readonly string[];
}

/** Adds an answer. Processes are in the order in which they first answered. */
export function answered(processes: readonly Process[], answer: Answer, now: number): readonly Process[] {
	const { id, role, scrape, degraded } = answer;
	const before = processes.find((one) => one.id === id) ?? { scrapes: [], degraded: [] };
	const after: Process = {
		id,
		role,
		scrapes: scrape ? [...before.scrapes, scrape].slice(-MAX_SCRAPES) : before.scrapes,
		degraded: degraded ? degradedFrom(degraded, before.degraded, now) : before.degraded,
		answeredAt: now,
	};
	const isKnown = processes.some((one) => one.id === id);
	const all = isKnown ? processes.map((one) => (one.id === id ? after : one)) : [...processes, after];
	return all.filter(({ answeredAt }) => now - answeredAt < FORGOTTEN_MS);
}

/** The chosen process. If there is no choice, or the chosen process is forgotten, the one that is known for longest. */
export const chosenProcess = (processes: readonly Process[], chosen: string | null): Process | undefined =>
	processes.find(({ id }) => id === chosen) ?? processes[0];

export const titleOf = ({ role, id }: Process): string => `${role} ${id}`;

/** An HTTP answer that no process sends. */
export class UnexpectedAnswer extends Error {
	constructor(
		readonly path: string,
		readonly status: number,
	) {
		super(`${path} was answered with status ${status}`);
	}
}

const adviceFor = (status: number): string =>
	[401, 403, 404].includes(status)
		? 'a proxy may block this path; open /ops from inside your network'
		: 'check the proxy and the log of the server';

/** The problem to show after a failed poll. `before`: the one shown until now. */
export function failureFrom(error: unknown, before: Degraded | null, now: number): Degraded {
	const [what, cause] =
		error instanceof UnexpectedAnswer
			? [error.message, adviceFor(error.status)]
			: ['The server does not answer', 'check that it is running'];
	return { what, cause, since: before?.what === what ? before.since : now };
}

/** The problems of a process. `now`: when any process last answered. */
export function problemsOf(process: Process, now: number): readonly Degraded[] {
	if (now - process.answeredAt < SILENT_MS) return process.degraded;
	return [
		{
			what: `This ${process.role} does not answer`,
			cause: 'another process answers; check that this one is running',
			since: process.answeredAt,
		},
	];
}
