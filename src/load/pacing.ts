import { ByTheClock, sendByTheClock } from './by-the-clock.ts';
import type { Participant } from './participant.ts';
import { type Plan, textOf } from './plan.ts';
import type { Tally } from './tally.ts';

/** Sends by the clock: late posts are sent at once. Then waits until every post is answered and delivered. */

export interface Pace {
	readonly plan: Plan;
	readonly tally: Tally;
	readonly participants: readonly Participant[];
	readonly channels: readonly string[];
	/** Since the beginning. */
	readonly nowMs: () => number;
	readonly signal: AbortSignal;
}

/** So long without any answer or message, and nothing more is expected: the server itself gives up after 30 s. */
const SILENCE_MS = 35_000;
const LOOK_MS = 20;

/** Returns the share of a core that this process took while it measured. */
export async function keepPace({
	plan,
	tally,
	participants,
	channels,
	nowMs,
	signal,
}: Pace): Promise<number | null> {
	const text = (number: number): string => textOf(number, plan.load.textBytes);
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
	const clocks = [
		new ByTheClock((ms) => plan.postsBy(ms), post),
		new ByTheClock((ms) => plan.marksBy(ms), mark),
	];
	await sendByTheClock(clocks, {
		nowMs,
		endMs: plan.endMs,
		isOver: (now) => {
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
 * After an early end as well: what was sent has to come out. False where somebody would not wait for it; after an early end,
 * a second Ctrl-C ends the process itself.
 */
export async function settle({
	tally,
	nowMs,
	signal,
}: Pick<Pace, 'tally' | 'nowMs' | 'signal'>): Promise<boolean> {
	const endedEarly = signal.aborted;
	let heardOf = -1;
	let lastMs = nowMs();
	while (!tally.isSettled && nowMs() - lastMs < SILENCE_MS) {
		if (signal.aborted && !endedEarly) return false;
		const now = tally.answeredPosts + tally.answeredMarks + tally.heardInAll;
		if (now !== heardOf) lastMs = nowMs();
		heardOf = now;
		await Bun.sleep(LOOK_MS);
	}
	return true;
}
