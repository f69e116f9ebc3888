import type { Look } from './charts.ts';
import { type Degraded, degradedFrom } from './readiness.ts';

/**
 * The processes that have answered, each with its metrics. Behind a load balancer any of them may answer next, so counters of
 * different processes are never compared.
 */

/** Ten minutes, one sample every two seconds. */
const MAX_LOOKS = 300;
/** A process that did not answer for this long, while others did, may be gone. */
const SILENT_MS = 30_000;
const FORGOTTEN_MS = 5 * 60_000;

export interface Process {
	readonly id: string;
	/** `server`: every role in one process. Otherwise `gateway`; requests never reach a worker. */
	readonly role: string;
	readonly looks: readonly Look[];
	readonly degraded: readonly Degraded[];
	/** Milliseconds since 1970. */
	readonly answeredAt: number;
}

/** The content of one answer. */
export interface Answer {
	readonly id: string;
	readonly role: string;
	readonly look?: Look;
	readonly degraded?: readonly string[];
}

/** In the order in which they first answered. */
export function answered(processes: readonly Process[], answer: Answer, now: number): readonly Process[] {
	const { id, role, look, degraded } = answer;
	const before = processes.find((one) => one.id === id) ?? { looks: [], degraded: [] };
	const after: Process = {
		id,
		role,
		looks: look ? [...before.looks, look].slice(-MAX_LOOKS) : before.looks,
		degraded: degraded ? degradedFrom(degraded, before.degraded, now) : before.degraded,
		answeredAt: now,
	};
	const isKnown = processes.some((one) => one.id === id);
	const all = isKnown ? processes.map((one) => (one.id === id ? after : one)) : [...processes, after];
	return all.filter(({ answeredAt }) => now - answeredAt < FORGOTTEN_MS);
}

/** The chosen process; without a choice, or if it is gone, the one known for longest. */
export const shownOf = (processes: readonly Process[], chosen: string | null): Process | undefined =>
	processes.find(({ id }) => id === chosen) ?? processes[0];

export const titleOf = ({ role, id }: Process): string => `${role} ${id}`;

/** The problems of a process; `now` is when any process last answered. */
export function troublesOf(process: Process, now: number): readonly Degraded[] {
	if (now - process.answeredAt < SILENT_MS) return process.degraded;
	return [
		{
			what: `This ${process.role}`,
			cause: 'This process does not answer; another one does.',
			since: process.answeredAt,
		},
	];
}
