import type { Look } from './charts.ts';
import { type Degraded, degradedFrom } from './readiness.ts';

/**
 * The processes that have answered, each with its metrics. Behind a load balancer any of them may answer next: what one
 * has counted is never compared with what another has.
 */

/** Ten minutes, one look every two seconds. */
const MOST_LOOKS = 300;
/** So long without an answer, while others answer: it may be gone. */
const SILENT_MS = 30_000;
const FORGOTTEN_MS = 5 * 60_000;

export interface Process {
	readonly id: string;
	/** `server`: everything in one process. Otherwise `gateway`; nobody's requests reach a worker. */
	readonly role: string;
	readonly looks: readonly Look[];
	readonly degraded: readonly Degraded[];
	/** Milliseconds since 1970. */
	readonly answeredAt: number;
}

/** What came with one answer. */
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
		looks: look ? [...before.looks, look].slice(-MOST_LOOKS) : before.looks,
		degraded: degraded ? degradedFrom(degraded, before.degraded, now) : before.degraded,
		answeredAt: now,
	};
	const isKnown = processes.some((one) => one.id === id);
	const all = isKnown ? processes.map((one) => (one.id === id ? after : one)) : [...processes, after];
	return all.filter(({ answeredAt }) => now - answeredAt < FORGOTTEN_MS);
}

/** The one that was chosen; until then, and when it is gone, the one that has been known for longest. */
export const shownOf = (processes: readonly Process[], chosen: string | null): Process | undefined =>
	processes.find(({ id }) => id === chosen) ?? processes[0];

export const titleOf = ({ role, id }: Process): string => `${role} ${id}`;

/** What is wrong with it; `now` is when any of them last answered. */
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
