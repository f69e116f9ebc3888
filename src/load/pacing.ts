import type { Participant } from './participant.ts';
import { type Plan, paddedText } from './plan.ts';
import { Schedule, sendOnSchedule } from './schedule.ts';
import type { Tally } from './tally.ts';

/** Sends posts and marks on schedule, late ones at once. Then waits until every post is answered and delivered. */

export interface PacingParts {
	readonly plan: Plan;
	readonly tally: Tally;
	readonly participants: readonly Participant[];
	readonly channels: readonly string[];
	/** Ms since the start. */
	readonly nowMs: () => number;
	readonly signal: AbortSignal;
}

/**
 * After this time without an answer or message, nothing more is expected: the server itself times out after 30 s.
 */
const SILENCE_MS = 35_000;
const CHECK_EVERY_MS = 20;

/** Returns how many cores this process used during the measurement. */
export async function keepPace({
	plan,
	tally,
	participants,
	channels,
	nowMs,
	signal,
}: PacingParts): Promise<number | null> {
	const text = (number: number): string => paddedText(number, plan.load.textBytes);
	const post = (number: number): void => {
		const { conversation, author } = plan.post(number);
		const isSent = participants[author]?.post(
			tally.postId(number),
			channels[conversation] ?? '',
			text(number),
		);
		tally.posted(number, isSent ?? false);
	};
	const mark = (number: number): void => {
		if (participants[plan.marker(number)]?.mark(tally.markId(number))) tally.sentMarks += 1;
	};
	let cpu: NodeJS.CpuUsage | undefined;
	const schedules = [
		new Schedule((ms) => plan.postsBy(ms), post),
		new Schedule((ms) => plan.marksBy(ms), mark),
	];
	await sendOnSchedule(schedules, {
		nowMs,
		endMs: plan.endMs,
		isStopped: (now) => {
			if (now >= plan.warmUpMs) cpu ??= process.cpuUsage();
			return signal.aborted;
		},
	});
	tally.endMs = Math.min(plan.endMs, nowMs());
	if (!cpu) return null;
	const { user, system } = process.cpuUsage(cpu);
	return (user + system) / 1000 / (nowMs() - plan.warmUpMs);
}

/**
 * Waits for outstanding answers and deliveries, also after an early end. Returns false if the user interrupts the
 * wait; after an early end, a second Ctrl-C ends the process.
 */
export async function settle({
	tally,
	nowMs,
	signal,
}: Pick<PacingParts, 'tally' | 'nowMs' | 'signal'>): Promise<boolean> {
	const endedEarly = signal.aborted;
	let lastCount = -1;
	let lastMs = nowMs();
	while (!tally.isSettled && nowMs() - lastMs < SILENCE_MS) {
		if (signal.aborted && !endedEarly) return false;
		const now = tally.answeredPosts + tally.answeredMarks + tally.receivedTotal;
		if (now !== lastCount) lastMs = nowMs();
		lastCount = now;
		await Bun.sleep(CHECK_EVERY_MS);
	}
	return true;
}
