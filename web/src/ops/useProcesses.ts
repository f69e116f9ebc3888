import { useEffect, useRef, useState } from 'react';
import { type Answer, answered, failureFrom, type Process, UnexpectedAnswer } from './processes.ts';
import { parseMetrics } from './prometheus.ts';
import type { Degraded } from './readiness.ts';

/** Polls /metrics and /readyz every two seconds. Behind a load balancer, any process may answer. */

const EVERY_MS = 2_000;

export interface Watched {
	readonly processes: readonly Process[];
	/** Why the last poll failed; null if it succeeded. */
	readonly failure: Degraded | null;
}

const NOTHING: Watched = { processes: [], failure: null };

export function useProcesses(isOn: boolean): Watched {
	const [watched, setWatched] = useState(NOTHING);
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => {
		if (!isOn) return;
		let isCurrent = true;
		const poll = async () => {
			const answers = await Promise.all([metrics(), readiness()]).catch((error: unknown) => error);
			if (!isCurrent) return;
			const now = Date.now();
			setWatched(({ processes, failure }) =>
				Array.isArray(answers)
					? { processes: answers.reduce((all, one) => answered(all, one, now), processes), failure: null }
					: { processes, failure: failureFrom(answers, failure, now) },
			);
			timer.current = setTimeout(poll, EVERY_MS);
		};
		void poll();
		return () => {
			isCurrent = false;
			clearTimeout(timer.current);
		};
	}, [isOn]);
	return watched;
}

/** Different processes may answer the two requests, so each answer names its process. */
async function metrics(): Promise<Answer> {
	const response = await fetch('/metrics');
	if (!response.ok) throw new UnexpectedAnswer('/metrics', response.status);
	const samples = parseMetrics(await response.text());
	const { id = '', role = 'server' } =
		samples.find(({ name }) => name === 'tidemark_process_info')?.labels ?? {};
	return { id, role, scrape: { at: Date.now() / 1000, samples } };
}

interface Readiness {
	readonly degraded: readonly string[];
	readonly process: { readonly id: string; readonly role: string };
}

async function readiness(): Promise<Answer> {
	const response = await fetch('/readyz');
	// A degraded process answers with status 503 and JSON, a proxy with something else.
	const body: Partial<Readiness> = await response.json().catch(() => ({}));
	if (!body.process || !body.degraded) throw new UnexpectedAnswer('/readyz', response.status);
	return { ...body.process, degraded: body.degraded };
}
