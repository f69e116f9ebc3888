import type { Answer, Api } from './api.ts';
import { isRepeatable, MarkSender, type MarkSenderParts } from './mark-sender.ts';

/**
 * The marks of conversations. A mark includes all lower ones of the same conversation and revision, so only the highest
 * waiting mark is sent. The counts on screen change only after the server has acknowledged the mark.
 */

export interface MarksParts extends MarkSenderParts {
	readonly api: Api;
	/** The revision of the counts on screen; undefined while unknown. */
	readonly revision: (channel: string) => number | undefined;
	/** Called with the counts in the answer. */
	readonly onAnswer: (answer: Answer) => void;
}

interface Waiting {
	readonly ts: string;
	readonly revision: number | undefined;
	readonly answer: Promise<Answer>;
	resolve(answer: Answer): void;
	reject(error: unknown): void;
}

export class Marks {
	private readonly waiting = new Map<string, Waiting[]>();
	private readonly sender: MarkSender;

	constructor(private readonly parts: MarksParts) {
		this.sender = new MarkSender(
			parts,
			(channel) => this.waiting.has(channel),
			(channel) => this.sendNewest(channel),
		);
	}

	mark(channel: string, ts: string): Promise<Answer> {
		const revision = this.parts.revision(channel);
		const queue = this.waiting.get(channel) ?? [];
		const last = queue.at(-1);
		// A waiting mark of a later message includes this one.
		if (last && last.ts >= ts && last.revision === revision) return last.answer;
		let settle: Pick<Waiting, 'resolve' | 'reject'> | undefined;
		const answer = new Promise<Answer>((resolve, reject) => {
			settle = { resolve, reject };
		});
		answer.catch(() => undefined);
		this.waiting.set(channel, [
			...queue,
			{ ts, revision, answer, ...(settle as Pick<Waiting, 'resolve' | 'reject'>) },
		]);
		void this.sender.pump(channel);
		return answer;
	}

	online(): void {
		for (const channel of this.waiting.keys()) void this.sender.pump(channel);
	}

	private async sendNewest(channel: string): Promise<void> {
		const queue = this.waiting.get(channel) ?? [];
		const newest = queue.at(-1);
		if (!newest) return;
		// The newest mark is the highest of its revision, and settles all marks of that revision. Other revisions are sent next.
		const answered = queue.filter(({ revision }) => revision === newest.revision);
		const settle = (then: (mark: Waiting) => void): void => {
			const left = (this.waiting.get(channel) ?? []).filter((mark) => !answered.includes(mark));
			if (left.length > 0) this.waiting.set(channel, left);
			else this.waiting.delete(channel);
			answered.forEach(then);
		};
		try {
			const { ts, revision } = newest;
			const args = { channel, ts, ...(revision === undefined ? {} : { revision }) };
			const answer = await this.parts.api.callOnce('conversations.mark', args);
			this.parts.onAnswer(answer);
			settle((mark) => mark.resolve(answer));
		} catch (error) {
			if (isRepeatable(error)) throw error;
			settle((mark) => mark.reject(error));
		}
	}
}
