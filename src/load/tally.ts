import type { Sent } from './expected.ts';
import { Latencies } from './latencies.ts';
import { mayHaveHappened, type Observer } from './participant.ts';
import { numberIn, type Plan } from './plan.ts';

/**
 * Records the outcome of every post and mark. Latencies count from when a post or mark was due, not from when it
 * was sent: otherwise the figures would hide the delay of posts that are sent late.
 */

const State = { unsent: 0, sent: 1, acknowledged: 2, rejected: 3, unknown: 4 } as const;

/** Answers and deliveries within the measured time, even if their posts were due earlier. */
interface Window {
	acknowledged: number;
	delivered: number;
}

export class Tally implements Observer {
	readonly acks = new Latencies();
	readonly deliveries = new Latencies();
	readonly marks = new Latencies();
	/** How late posts were sent: what the generator itself adds. */
	readonly lateness = new Latencies();
	/** Since the last progress line. */
	readonly sinceLastLine = { acks: new Latencies(), deliveries: new Latencies() };
	readonly window: Window = { acknowledged: 0, delivered: 0 };
	readonly problems = new Map<string, number>();
	gaps = 0;
	repeated = 0;
	receivedTotal = 0;
	sentPosts = 0;
	/** Posts that were due while their author had no socket, and were never sent. */
	unsentPosts = 0;
	answeredPosts = 0;
	acknowledgedPosts = 0;
	sentMarks = 0;
	answeredMarks = 0;
	/** Ms since the start; earlier than planned after an interrupt. */
	endMs: number;
	private readonly states: Uint8Array;
	/** ts of the posts that happened. */
	private readonly stamps: (string | undefined)[] = [];
	private existing = 0;

	/** `nowMs`: since the start. */
	constructor(
		private readonly plan: Plan,
		private readonly nowMs: () => number,
	) {
		this.states = new Uint8Array(plan.posts);
		this.endMs = plan.endMs;
	}

	/** Ids of posts are their numbers, from 1; those of marks follow. */
	postId = (number: number): number => number + 1;
	markId = (number: number): number => this.plan.posts + number + 1;

	posted(number: number, isSent: boolean): void {
		if (!isSent) {
			this.unsentPosts += 1;
			this.failed('not sent: no socket');
			return;
		}
		this.states[number] = State.sent;
		this.sentPosts += 1;
		const dueMs = this.plan.postDueMs(number);
		if (this.plan.isMeasured(dueMs)) this.lateness.add(this.nowMs() - dueMs);
	}

	answered(id: number, ts: string, problem: string | undefined): void {
		if (problem !== undefined) this.failed(problem);
		if (id > this.plan.posts) this.markAnswered(id - this.plan.posts - 1, problem);
		else this.postAnswered(id - 1, ts, problem);
	}

	private markAnswered(number: number, problem: string | undefined): void {
		this.answeredMarks += 1;
		const dueMs = this.plan.markDueMs(number);
		if (problem === undefined && this.plan.isMeasured(dueMs)) this.marks.add(this.nowMs() - dueMs);
	}

	private postAnswered(number: number, ts: string, problem: string | undefined): void {
		this.answeredPosts += 1;
		if (problem !== undefined) {
			this.states[number] = mayHaveHappened(problem) ? State.unknown : State.rejected;
			return;
		}
		this.states[number] = State.acknowledged;
		this.recordExisting(number, ts);
		this.acknowledgedPosts += 1;
		const nowMs = this.nowMs();
		if (this.isInWindow(nowMs)) this.window.acknowledged += 1;
		this.recordLatency(number, nowMs, 'acks');
	}

	received(text: string, ts: string, how: 'next' | 'gap' | 'repeated'): void {
		if (how === 'repeated') {
			this.repeated += 1;
			return;
		}
		if (how === 'gap') this.gaps += 1;
		this.receivedTotal += 1;
		const number = numberIn(text);
		// Received messages exist, whatever answer their author got.
		this.recordExisting(number, ts);
		const nowMs = this.nowMs();
		if (this.isInWindow(nowMs)) this.window.delivered += 1;
		this.recordLatency(number, nowMs, 'deliveries');
	}

	failed(kind: string): void {
		this.problems.set(kind, (this.problems.get(kind) ?? 0) + 1);
	}

	/** Nothing is outstanding: all answers have arrived, and everything was delivered. */
	get isSettled(): boolean {
		return (
			this.answeredPosts === this.sentPosts &&
			this.answeredMarks === this.sentMarks &&
			this.receivedTotal >= this.existing * this.plan.listeners
		);
	}

	/** The messages of each conversation in the order of sending. */
	sent(): Sent[][] {
		const conversations: Sent[][] = Array.from({ length: this.plan.load.conversations }, () => []);
		for (const [number, state] of this.states.entries()) {
			const ts = this.stamps[number];
			const mayExist = ts !== undefined || state === State.sent || state === State.unknown;
			if (!mayExist) continue;
			const { conversation, author } = this.plan.post(number);
			conversations[conversation]?.push({ author, ts });
		}
		return conversations;
	}

	private recordExisting(number: number, ts: string): void {
		if (this.stamps[number] !== undefined) return;
		this.stamps[number] = ts;
		this.existing += 1;
	}

	private recordLatency(number: number, nowMs: number, what: 'acks' | 'deliveries'): void {
		const dueMs = this.plan.postDueMs(number);
		this.sinceLastLine[what].add(nowMs - dueMs);
		if (this.plan.isMeasured(dueMs)) this[what].add(nowMs - dueMs);
	}

	private isInWindow(nowMs: number): boolean {
		return nowMs >= this.plan.warmUpMs && nowMs < this.endMs;
	}
}
