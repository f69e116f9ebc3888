/** How long a method took on the server, from the server's own histogram. */

export interface ServerTimes {
	readonly seconds: number;
	readonly calls: number;
	/** By seconds: the number of calls that took no longer. */
	readonly upTo: ReadonlyMap<number, number>;
}

export async function serverTimes(url: string, method: string): Promise<ServerTimes> {
	const text = await (await fetch(`${url}/metrics`)).text();
	const name = 'tidemark_request_duration_seconds';
	const read = (part: 'sum' | 'count'): number =>
		Number(new RegExp(`^${name}_${part}\\{method="${method}"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
	const buckets = text.matchAll(
		new RegExp(`^${name}_bucket\\{le="(.+)",method="${method}"\\} (\\d+)$`, 'gm'),
	);
	const upTo = new Map<number, number>();
	for (const [, bound, calls] of buckets)
		upTo.set(bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), Number(calls));
	return { seconds: read('sum'), calls: read('count'), upTo };
}

export const meanMsBetween = (before: ServerTimes, after: ServerTimes): number =>
	((after.seconds - before.seconds) / (after.calls - before.calls)) * 1000;

/** The bound of the histogram below which this share of the calls between two samples lies. */
export function boundMsBetween(before: ServerTimes, after: ServerTimes, share: number): number {
	const wanted = (after.calls - before.calls) * share;
	for (const [bound, calls] of after.upTo)
		if (calls - (before.upTo.get(bound) ?? 0) >= wanted) return bound * 1000;
	return Number.POSITIVE_INFINITY;
}
