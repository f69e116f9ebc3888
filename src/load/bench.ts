import type { ApiCall } from '../remote/api-client.ts';
import { checkCounts } from './counts.ts';
import { notesOn } from './notes.ts';
import { keepPace, settle } from './pacing.ts';
import { Participant } from './participant.ts';
import { type Load, Plan } from './plan.ts';
import type { ProgressLine } from './progress.ts';
import { ms } from './report.ts';
import { type BenchResult, figuresOf } from './result.ts';
import { each, type Stage, setStage } from './stage.ts';
import { Tally } from './tally.ts';

/**
 * One run: creates a workspace, connects users, sends on schedule, waits for outstanding answers, compares counts.
 */

export interface BenchOptions {
	readonly url: string;
	readonly admin: ApiCall;
	readonly load: Load;
	/** Name of the workspace. */
	readonly name: string;
	readonly progress: ProgressLine;
	/** Ends the run early and reports what was measured by then. */
	readonly signal: AbortSignal;
}

export async function bench({
	url,
	admin,
	load,
	name,
	progress,
	signal,
}: BenchOptions): Promise<BenchResult> {
	const plan = new Plan(load);
	const stage = await setStage(url, admin, plan, name, progress, signal);
	let began = performance.now();
	const nowMs = (): number => performance.now() - began;
	const tally = new Tally(plan, nowMs);
	const participants = await connect(stage, plan, tally, progress, signal);
	const ticking = setInterval(() => progress.show(tick(plan, tally, nowMs())), TICK_MS);
	try {
		began = performance.now();
		const pace = { plan, tally, participants, channels: stage.channels, nowMs, signal };
		const cpuCores = await keepPace(pace);
		const isSettled = await settle(pace);
		clearInterval(ticking);
		progress.step('comparing counts with what was sent');
		const sent = tally.sent();
		const counts = await checkCounts(plan, stage, participants, sent).catch((error) => {
			tally.failed(`counts: ${(error as Error).message}`);
			return null;
		});
		const figures = figuresOf({
			url,
			workspace: stage.team,
			plan,
			tally,
			missingAtEnd: isSettled ? missingAtEnd(plan, stage, participants, sent) : 0,
			counts,
			cpuCores,
		});
		return { ...figures, notes: notesOn(figures) };
	} finally {
		clearInterval(ticking);
		for (const participant of participants) participant.leave();
		progress.close();
	}
}

const TICK_MS = 1_000;

async function connect(
	stage: Stage,
	plan: Plan,
	tally: Tally,
	progress: ProgressLine,
	signal: AbortSignal,
): Promise<Participant[]> {
	const { online } = plan.load;
	const participants: Participant[] = new Array(online);
	let connected = 0;
	await each(online, signal, async (person) => {
		const participant = new Participant(await stage.as(person), tally);
		participants[person] = participant;
		await participant.connect();
		connected += 1;
		progress.step(`${connected} of ${online} users connected`);
	});
	return participants;
}

/** One line for the last second. */
function tick(
	plan: Plan,
	{ sinceLastLine, problems, sentPosts, answeredPosts }: Tally,
	nowMs: number,
): string {
	const { acks, deliveries } = sinceLastLine;
	const second = Math.round((nowMs - plan.warmUpMs) / 1000);
	const when = second <= 0 ? 'warm-up' : nowMs < plan.endMs + TICK_MS ? `${second} s` : 'waiting';
	const errors = [...problems.values()].reduce((sum, count) => sum + count, 0);
	const line = [
		when.padStart(7),
		`${acks.count} posts`,
		`p99 ${ms(acks.quantile(0.99))}`,
		`${deliveries.count} deliveries`,
		`p99 ${ms(deliveries.quantile(0.99))}`,
		`${sentPosts - answeredPosts} unanswered`,
		`${errors} errors`,
	].join('  ');
	acks.clear();
	deliveries.clear();
	return line;
}

/** How often an online user lacks the newest message of a conversation. */
function missingAtEnd(
	plan: Plan,
	stage: Stage,
	participants: readonly Participant[],
	sent: ReturnType<Tally['sent']>,
): number {
	let lacking = 0;
	for (const [conversation, messages] of sent.entries()) {
		const newest = messages.reduce((latest, { ts = '' }) => (ts > latest ? ts : latest), '');
		if (newest === '') continue;
		const channel = stage.channels[conversation] ?? '';
		for (let seat = 0; seat < plan.listeners; seat += 1) {
			if (participants[plan.speaker(conversation, seat)]?.lacks(channel, newest)) lacking += 1;
		}
	}
	return lacking;
}
