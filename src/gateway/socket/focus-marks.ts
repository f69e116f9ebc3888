import { Rejection } from '../../model/errors.ts';
import type { Marking } from '../../unread/marking.ts';

/**
 * Marks messages read that devices with the conversation in focus have confirmed. Each user, conversation and revision
 * has at most one mark in flight, and the next one covers what is confirmed meanwhile: so a busy channel costs as many
 * marks as the read state handles, not one for each message.
 */

/** Limit for messages that wait for the next mark. The oldest beyond it are dropped and stay unread. */
const MAX_WAITING = 10_000;

export interface FocusMarksParts {
	readonly marking: Pick<Marking, 'mark'>;
	readonly isActive: (user: string) => Promise<boolean>;
	readonly failed: (error: unknown) => void;
}

interface FocusedConversation {
	readonly user: string;
	readonly conversation: string;
	readonly revision: number | undefined;
}

export class FocusMarks {
	/** For each key with a mark in flight: what the next one marks. */
	private readonly waiting = new Map<string, number[]>();

	constructor(private readonly parts: FocusMarksParts) {}

	/** Number of marks in flight. */
	get inFlight(): number {
		return this.waiting.size;
	}

	add(focused: FocusedConversation, tss: readonly number[]): void {
		const key = `${focused.user} ${focused.conversation} ${focused.revision}`;
		const waiting = this.waiting.get(key);
		if (waiting) {
			waiting.push(...tss);
			if (waiting.length > MAX_WAITING) waiting.splice(0, waiting.length - MAX_WAITING);
			return;
		}
		this.waiting.set(key, []);
		void this.markAll(key, focused, tss);
	}

	private async markAll(key: string, focused: FocusedConversation, first: readonly number[]): Promise<void> {
		for (let tss = first; tss.length > 0; ) {
			try {
				await this.mark(focused, tss);
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
			await this.parts.marking.mark(user, conversation, { type: 'messages', tss, revision });
		} catch (error) {
			// The messages were deleted, the user left, or a service is unavailable: the messages stay unread.
			if (!(error instanceof Rejection)) throw error;
		}
	}
}
