import type { Summary } from './latencies.ts';
import type { BenchResult } from './result.ts';

/** Formats a result for people. Pure. */

const LABEL = 21;
const COLUMN = 12;

export function reportOf(result: BenchResult): string {
	const { workspace, posts, deliveries, marks, errors, counts, generator, notes } = result;
	const line = (label: string, text: string): string => `${label.padEnd(LABEL)} ${text}`;
	const kinds = Object.entries(errors).map(([kind, count]) => `${whole(count)} × ${kind}`);
	const seconds = result.interrupted
		? `${result.seconds} s, ended early`
		: `${result.seconds} s after ${result.load.warmUp} s of warm-up`;
	return [
		`measured for ${seconds}; latencies from when a post was due`,
		'',
		line('', ['p50', 'p95', 'p99', 'max'].map((name) => name.padStart(COLUMN)).join('')),
		line('post to acknowledged', latencies(posts.ms)),
		line('post to delivered', latencies(deliveries.ms)),
		...(marks ? [line('mark to acknowledged', latencies(marks.ms))] : []),
		'',
		line('posts', postsLine(posts)),
		line(
			'deliveries',
			`${rate(deliveries.per_second)} per second; ${whole(deliveries.count)} in total, ${deliveries.gaps} gaps, ${deliveries.repeated} repeated`,
		),
		...(marks
			? [line('marks', `${whole(marks.sent - marks.unanswered)} of ${whole(marks.sent)} answered`)]
			: []),
		line('errors', kinds.length === 0 ? 'none' : kinds.join(', ')),
		line('unread counts', countsLine(counts)),
		line('this generator', generatorLine(generator)),
		line('workspace', `"${workspace.name}" (${workspace.id}) remains: a workspace cannot be deleted`),
		...notes.map((note) => `note: ${note}.`),
	].join('\n');
}

function postsLine({ per_second: perSecond, acknowledged, due, sent }: BenchResult['posts']): string {
	const line = `${rate(perSecond)} per second acknowledged; ${whole(acknowledged)} of ${whole(due)} in total`;
	return sent === due ? line : `${line}, ${whole(due - sent)} not sent`;
}

function countsLine(counts: BenchResult['counts']): string {
	if (!counts) return 'could not be fetched';
	const { people, rows, exact, unclear, wrong } = counts;
	const checked = `${whole(rows)} rows of client.counts, for ${people} users`;
	if (exact === rows) return `exact: all ${checked}`;
	return `${whole(wrong)} wrong, ${whole(unclear)} unclear, ${whole(exact)} exact, of ${checked}`;
}

function generatorLine({ late_ms: late, cpu_cores: cores }: BenchResult['generator']): string {
	if (late === null || cores === null) return 'measured nothing';
	return `sent posts ${ms(late.p50)} late (p99 ${ms(late.p99)}), included in the latencies; used ${cores} of a core`;
}

const latencies = (summary: Summary | null): string =>
	summary === null
		? '–'.padStart(COLUMN)
		: [summary.p50, summary.p95, summary.p99, summary.max]
				.map((value) => ms(value).padStart(COLUMN))
				.join('');

/** About three significant digits. */
export function ms(value: number): string {
	if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
	if (value >= 100) return `${whole(value)} ms`;
	return `${value.toFixed(value >= 10 ? 1 : 2)} ms`;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const rate = (value: number): string => (value >= 100 ? whole(value) : value.toFixed(1));
