import { useEffect, useRef, useState } from 'react';
import { type Answer, answered, type Process } from './processes.ts';
import { parseMetrics } from './prometheus.ts';

/** Polls /metrics and /readyz every two seconds. Behind a load balancer, any process may answer. */

const EVERY_MS = 2_000;

export interface Watched {
	readonly processes: readonly Process[];
	/** The time since which no process answers; null while one does. */
	readonly unansweredSince: number | null;
}

const NOTHING: Watched = { processes: [], unansweredSince: null };

export function useProcesses(isOn: boolean): Watched {
	const [watched, setWatched] = useState(NOTHING);
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => {
		if (!isOn) return;
		let isCurrent = true;
		const poll = async () => {
			const answers = await Promise.all([metrics(), readiness()]).catch(() => null);
			if (!isCurrent) return;
			const now = Date.now();
			setWatched(({ processes, unansweredSince }) =>
				answers
					? {
							processes: answers.reduce((all, one) => answered(all, one, now), processes),
							unansweredSince: null,
						}
					: { processes, unansweredSince: unansweredSince ?? now },
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
	if (!response.ok) throw new Error(`metrics answered ${response.status}`);
	const samples = parseMetrics(await response.text());
	const { id = '', role = 'server' } =
		samples.find(({ name }) => name === 'tidemark_process_info')?.labels ?? {};
	return { id, role, scrape: { at: Date.now() / 1000, samples } };
}

async function readiness(): Promise<Answer> {
	const { process, degraded } = (await (await fetch('/readyz')).json()) as {
		readonly degraded: readonly string[];
		readonly process: { readonly id: string; readonly role: string };
	};
	return { ...process, degraded };
}
