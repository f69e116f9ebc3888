import { useEffect, useRef, useState } from 'react';
import type { Look } from './charts.ts';
import { parseMetrics } from './prometheus.ts';
import { type Degraded, degradedFrom } from './readiness.ts';

/** Looks at the server every two seconds, and keeps ten minutes. */

const EVERY_MS = 2_000;
const MOST = 300;

export interface Watched {
	readonly looks: readonly Look[];
	readonly degraded: readonly Degraded[];
	/** The server does not answer; since when. */
	readonly awaySince: number | null;
}

const NOTHING: Watched = { looks: [], degraded: [], awaySince: null };

export function useLooks(isOn: boolean): Watched {
	const [watched, setWatched] = useState(NOTHING);
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => {
		if (!isOn) return;
		let isOver = false;
		const look = async () => {
			const found = await lookNow().catch(() => null);
			if (isOver) return;
			const now = Date.now();
			setWatched((before) =>
				found
					? {
							looks: [...before.looks, found.look].slice(-MOST),
							degraded: degradedFrom(found.degraded, before.degraded, now),
							awaySince: null,
						}
					: { ...before, awaySince: before.awaySince ?? now },
			);
			timer.current = setTimeout(look, EVERY_MS);
		};
		void look();
		return () => {
			isOver = true;
			clearTimeout(timer.current);
		};
	}, [isOn]);
	return watched;
}

async function lookNow(): Promise<{ look: Look; degraded: readonly string[] }> {
	const [metrics, ready] = await Promise.all([fetch('/metrics'), fetch('/readyz')]);
	if (!metrics.ok) throw new Error(`metrics answered ${metrics.status}`);
	const { degraded } = (await ready.json()) as { degraded: readonly string[] };
	return { look: { at: Date.now() / 1000, samples: parseMetrics(await metrics.text()) }, degraded };
}
