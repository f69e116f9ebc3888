import { bucketsOf, quantileBetween, type Sample, sumOf } from './prometheus.ts';

/** The lines of the charts, and how each is computed from two scrapes of /metrics. Metrics that the server does not export are omitted. */

/** The metrics of a process at one time. */
export interface Scrape {
	/** Seconds since 1970. */
	readonly at: number;
	readonly samples: readonly Sample[];
}

export interface LineSpec {
	readonly label: string;
	/** Null: no value at this time. Undefined: the server does not export the metric. */
	readonly read: (before: Scrape, now: Scrape) => number | null | undefined;
}

export interface ChartSpec {
	readonly id: string;
	readonly title: string;
	readonly unit: '/s' | 'ms' | 'MB' | '';
	readonly lines: readonly LineSpec[];
}

const gauge =
	(name: string, scale = 1): LineSpec['read'] =>
	(_, now) => {
		const value = sumOf(now.samples, name);
		return value === null ? undefined : value * scale;
	};

const rate =
	(name: string, filter: Readonly<Record<string, string>> = {}): LineSpec['read'] =>
	(before, now) => {
		const [from, to] = [sumOf(before.samples, name, filter), sumOf(now.samples, name, filter)];
		if (from === null || to === null) return undefined;
		// A counter falls only when the process was restarted.
		return to < from ? null : (to - from) / (now.at - before.at);
	};

const quantile =
	(name: string, share: number): LineSpec['read'] =>
	(before, now) => {
		const buckets = bucketsOf(now.samples, name);
		if (buckets.size === 0) return undefined;
		const seconds = quantileBetween(bucketsOf(before.samples, name), buckets, share);
		return seconds === null ? null : seconds * 1000;
	};

const MB = 1 / 1_048_576;
const MS = 1000;

export const CHARTS: readonly ChartSpec[] = [
	{
		id: 'posts',
		title: 'Posts and requests',
		unit: '/s',
		lines: [
			{ label: 'Posts', read: rate('tidemark_posts_total') },
			{ label: 'Requests', read: rate('tidemark_requests_total') },
		],
	},
	{
		id: 'deliveries',
		title: 'Deliveries',
		unit: '/s',
		lines: [{ label: 'Events to sockets', read: rate('tidemark_deliveries_total') }],
	},
	{
		id: 'sockets',
		title: 'Connections',
		unit: '',
		lines: [
			{ label: 'Sockets', read: gauge('tidemark_sockets') },
			{ label: 'Users', read: gauge('tidemark_connected_users') },
		],
	},
	{
		id: 'latency',
		title: 'Latency of requests',
		unit: 'ms',
		lines: [
			{ label: 'p50', read: quantile('tidemark_request_duration_seconds', 0.5) },
			{ label: 'p99', read: quantile('tidemark_request_duration_seconds', 0.99) },
		],
	},
	{
		id: 'lag',
		title: 'Lag',
		unit: 'ms',
		lines: [
			{ label: 'Event loop p99', read: gauge('tidemark_nodejs_eventloop_lag_p99_seconds', MS) },
			{ label: 'Worker', read: gauge('tidemark_worker_lag_seconds', MS) },
			{ label: 'Persistence', read: gauge('tidemark_persistence_lag_seconds', MS) },
		],
	},
	{
		id: 'memory',
		title: 'Memory',
		unit: 'MB',
		lines: [
			{ label: 'Resident', read: gauge('tidemark_process_resident_memory_bytes', MB) },
			{ label: 'Heap', read: gauge('tidemark_nodejs_heap_size_used_bytes', MB) },
		],
	},
];

/** A total since the start of the process, shown as a number: a chart of something that should never happen would be flat. */
export interface TotalSpec {
	readonly label: string;
	readonly metric: string;
	/** A value above 0 needs attention. */
	readonly isAlarm: boolean;
}

export const TOTALS: readonly TotalSpec[] = [
	{ label: 'Counts compared with the store', metric: 'tidemark_checked_counts_total', isAlarm: false },
	{ label: 'Wrong counts', metric: 'tidemark_drifted_counts_total', isAlarm: true },
	{ label: 'Failed commits', metric: 'tidemark_failed_commits_total', isAlarm: true },
];

/** A chart with the lines that this server exports; null when it exports none. */
export function exportedBy(chart: ChartSpec, scrape: Scrape): ChartSpec | null {
	const lines = chart.lines.filter(({ read }) => read(scrape, scrape) !== undefined);
	return lines.length === 0 ? null : { ...chart, lines };
}
