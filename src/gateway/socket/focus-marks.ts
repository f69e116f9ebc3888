import { Refusal } from '../../model/errors.ts';
import type { Reads } from '../../unread/reads.ts';

/**
 * Marks what was confirmed in focus. For each user, conversation and revision one mark is under way, and what is confirmed
 * meanwhile goes into the next one: a busy channel costs as many marks as the read state takes, not one for each message.
 */

/** That wait for the next mark of one user in one conversation. Beyond it the oldest are dropped: they stay unread. */
const MOST_WAITING = 10_000;

export interface FocusMarksParts {
	readonly reads: Pick<Reads, 'mark'>;
	readonly isActive: (user: string) => Promise<boolean>;
	readonly failed: (error: unknown) => void;
}

interface FocusedConversation {
	readonly user: string;
	readonly conversation: string;
	readonly revision: number | undefined;
}

export class FocusMarks {
	/** By place with a mark under way: what the next one marks. */
	private readonly waiting = new Map<string, number[]>();

	constructor(private readonly parts: FocusMarksParts) {}

	/** Marks under way. */
	get underWay(): number {
		return this.waiting.size;
	}

	add(place: FocusedConversation, tss: readonly number[]): void {
		const key = `${place.user} ${place.conversation} ${place.revision}`;
		const waiting = this.waiting.get(key);
		if (waiting) {
			waiting.push(...tss);
			if (waiting.length > MOST_WAITING) waiting.splice(0, waiting.length - MOST_WAITING);
			return;
		}
		this.waiting.set(key, []);
		void this.markAll(key, place, tss);
	}

	private async markAll(key: string, place: FocusedConversation, first: readonly number[]): Promise<void> {
		for (let tss = first; tss.length > 0; ) {
			try {
				await this.mark(place, tss);
			} catch (error) {
				this.parts.failed(error);
			}
			tss = this.waiting.get(key) ?? [];
			this.waiting.set(key, []);
		}
		this.waiting.delete(key);
	}

	private async mark(
		{ user, conversation, revision }: FocusedConversation,
		tss: readonly number[],
	): Promise<void> {
		if (!(await this.parts.isActive(user))) return;
		try {
			await this.parts.reads.mark(user, conversation, { type: 'messages', tss, revision });
		} catch (error) {
			// The messages were deleted, or the user left, between delivery and mark.
			if (!(error instanceof Refusal)) throw error;
		}
	}
}
