import { backoffMs } from './backoff.ts';
import { ApiError } from './errors.ts';
import type { MarksParts } from './marks.ts';
import { sleep } from './platform.ts';

/**
 * Sends marks of single messages while there is a connection, and again after a lost answer. Marks of one conversation
 * are sent together. They carry the revision that the user saw, so the server ignores them after a later mark unread.
 */

interface Batch {
	readonly revision: number | undefined;
	readonly messages: Set<string>;
}

const MAX_BATCH = 100;

export class SingleMarks {
	private readonly waiting = new Map<string, Batch[]>();
	private readonly inFlight = new Set<string>();

	constructor(private readonly parts: MarksParts) {}

	mark(channel: string, messages: readonly string[]): void {
		const revision = this.parts.revision(channel);
		const batches = this.waiting.get(channel) ?? [];
		this.waiting.set(channel, batches);
		for (const ts of messages) {
			const last = batches.at(-1);
			if (last && last.revision === revision && last.messages.size < MAX_BATCH) last.messages.add(ts);
			else batches.push({ revision, messages: new Set([ts]) });
		}
		void this.pump(channel);
	}

	online(): void {
		for (const channel of this.waiting.keys()) void this.pump(channel);
	}

	private async pump(channel: string): Promise<void> {
		if (this.inFlight.has(channel)) return;
		this.inFlight.add(channel);
		try {
			let failures = 0;
			while (this.waiting.get(channel)?.length && this.parts.isOnline())
				failures = (await this.sendFirst(channel, failures)) ? 0 : failures + 1;
		} finally {
			this.inFlight.delete(channel);
		}
	}

	private async sendFirst(channel: string, failures: number): Promise<boolean> {
		const { api, platform, onAnswer } = this.parts;
		const batch = this.waiting.get(channel)?.shift();
		if (!batch) return true;
		const { revision, messages } = batch;
		try {
			const args = { channel, ts: [...messages], ...(revision === undefined ? {} : { revision }) };
			onAnswer(await api.callOnce('conversations.markMessage', args));
			return true;
		} catch (error) {
			// The server rejected the marks: the messages were deleted, or the user left.
			if (!(error instanceof ApiError) || error.retry === 'no') return true;
			this.waiting.get(channel)?.unshift(batch);
			await sleep(platform, error.retryAfterMs + backoffMs(failures, platform.random));
			return false;
		}
	}
}
