import { isRepeatable, MarkSender } from './mark-sender.ts';
import type { MarksParts } from './marks.ts';

/**
 * The marks of single messages. Those of one conversation are sent together. They carry the revision that the user saw,
 * so the server ignores them after a later mark unread.
 */

interface Batch {
	readonly revision: number | undefined;
	readonly messages: Set<string>;
}

const MAX_BATCH = 100;

export class SingleMarks {
	private readonly waiting = new Map<string, Batch[]>();
	private readonly sender: MarkSender;

	constructor(private readonly parts: MarksParts) {
		this.sender = new MarkSender(
			parts,
			(channel) => (this.waiting.get(channel)?.length ?? 0) > 0,
			(channel) => this.sendFirst(channel),
		);
	}

	mark(channel: string, messages: readonly string[]): void {
		const revision = this.parts.revision(channel);
		const batches = this.waiting.get(channel) ?? [];
		this.waiting.set(channel, batches);
		for (const ts of messages) {
			const last = batches.at(-1);
			if (last && last.revision === revision && last.messages.size < MAX_BATCH) last.messages.add(ts);
			else batches.push({ revision, messages: new Set([ts]) });
		}
		void this.sender.pump(channel);
	}

	online(): void {
		for (const channel of this.waiting.keys()) void this.sender.pump(channel);
	}

	private async sendFirst(channel: string): Promise<void> {
		const { api, onAnswer } = this.parts;
		const batch = this.waiting.get(channel)?.shift();
		if (!batch) return;
		const { revision, messages } = batch;
		try {
			const args = { channel, ts: [...messages], ...(revision === undefined ? {} : { revision }) };
			onAnswer(await api.callOnce('conversations.markMessage', args));
		} catch (error) {
			// Not repeatable: the server rejected the marks, because the messages were deleted or the user left.
			if (!isRepeatable(error)) return;
			this.waiting.get(channel)?.unshift(batch);
			throw error;
		}
	}
}
