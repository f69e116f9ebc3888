import type { CheckedCounts } from './counts.ts';
import type { Summary } from './latencies.ts';
import type { Load, Plan } from './plan.ts';
import type { Tally } from './tally.ts';

/** The result as `--json` prints it. Latencies are in ms, from when a post or mark was due. Pure. */

export interface Figures {
	/** No message was lost or repeated, counts could be fetched and none was wrong, and something was measured. */
	readonly ok: boolean;
	readonly interrupted: boolean;
	readonly url: string;
	readonly workspace: { readonly id: string; readonly name: string };
	readonly load: Load;
	/** Measured time, without the warm-up. */
	readonly seconds: number;
	/** Totals of the whole run; `per_second` and `ms` are of the measured time. */
	readonly posts: {
		readonly due: number;
		/** Fewer than were due if sockets were disconnected. */
		readonly sent: number;
		readonly acknowledged: number;
		readonly unanswered: number;
		readonly per_second: number;
		readonly ms: Summary | null;
	};
	readonly deliveries: {
		readonly count: number;
		readonly per_second: number;
		readonly ms: Summary | null;
		/** Messages whose prev_ts is not the last received message, and sockets that lack the last messages at the end. */
		readonly gaps: number;
		readonly repeated: number;
	};
	readonly marks: {
		readonly sent: number;
		readonly unanswered: number;
		readonly ms: Summary | null;
	} | null;
	/** Number of errors by kind. */
	readonly errors: Readonly<Record<string, number>>;
	/** Null: they could not be fetched. */
	readonly counts: CheckedCounts | null;
	readonly generator: { readonly late_ms: Summary | null; readonly cpu_cores: number | null };
}

/** The figures with their interpretation. */
export interface BenchResult extends Figures {
	readonly notes: readonly string[];
}

export interface Measured {
	readonly url: string;
	readonly workspace: Figures['workspace'];
	readonly plan: Plan;
	readonly tally: Tally;
	/** How often an online user lacked the newest message of a conversation. */
	readonly missingAtEnd: number;
	readonly counts: CheckedCounts | null;
	readonly cpuCores: number | null;
}

export function figuresOf(measured: Measured): Figures {
	const { url, workspace, plan, tally, missingAtEnd, counts, cpuCores } = measured;
	const seconds = Math.max(0, tally.endMs - plan.warmUpMs) / 1000;
	const perSecond = (count: number): number => (seconds === 0 ? 0 : hundredths(count / seconds));
	const gaps = tally.gaps + missingAtEnd;
	return {
		ok: gaps === 0 && tally.repeated === 0 && counts?.wrong === 0 && tally.acks.count > 0,
		interrupted: tally.endMs < plan.endMs,
		url,
		workspace,
		load: plan.load,
		seconds: hundredths(seconds),
		posts: {
			due: tally.sentPosts + tally.unsentPosts,
			sent: tally.sentPosts,
			acknowledged: tally.acknowledgedPosts,
			unanswered: tally.sentPosts - tally.answeredPosts,
			per_second: perSecond(tally.window.acknowledged),
			ms: tally.acks.summary(),
		},
		deliveries: {
			count: tally.receivedTotal,
			per_second: perSecond(tally.window.delivered),
			ms: tally.deliveries.summary(),
			gaps,
			repeated: tally.repeated,
		},
		marks:
			plan.load.marks === 0
				? null
				: {
						sent: tally.sentMarks,
						unanswered: tally.sentMarks - tally.answeredMarks,
						ms: tally.marks.summary(),
					},
		errors: Object.fromEntries([...tally.problems].sort(([, one], [, other]) => other - one)),
		counts,
		generator: {
			late_ms: tally.lateness.summary(),
			cpu_cores: cpuCores === null ? null : hundredths(cpuCores),
		},
	};
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;
