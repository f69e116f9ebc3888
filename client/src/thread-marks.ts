import { isRepeatable, MarkSender, type MarkSenderParts } from './mark-sender.ts';

/**
 * The marks of seen replies of one thread. Only the highest waiting mark is sent. A thread has no revision: if its cursor
 * has moved back, the user marked replies unread meanwhile, and the mark is dropped.
 */

export interface ThreadMarksParts extends MarkSenderParts {
	/** The cursor of the thread. */
	readonly lastRead: () => string;
	readonly send: (ts: string) => Promise<void>;
}

export class ThreadMarks {
	private waiting: { readonly ts: string; readonly lastRead: string } | null = null;
	private readonly sender: MarkSender;

	constructor(private readonly parts: ThreadMarksParts) {
		this.sender = new MarkSender(
			parts,
			() => this.waiting !== null,
			() => this.send(),
		);
	}

	mark(ts: string): void {
		if (this.waiting && this.waiting.ts >= ts) return;
		this.waiting = { ts, lastRead: this.parts.lastRead() };
		this.online();
	}

	online(): void {
		void this.sender.pump('');
	}

	private async send(): Promise<void> {
		const { waiting, parts } = this;
		if (waiting && parts.lastRead() >= waiting.lastRead)
			await parts.send(waiting.ts).catch((error) => {
				if (isRepeatable(error)) throw error;
			});
		if (this.waiting === waiting) this.waiting = null;
	}
}
