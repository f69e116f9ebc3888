import type { Attention } from './public.ts';
import type { Wire } from './wire.ts';

/**
 * Reports to the server which conversations this device shows to its user. The server marks new messages in them read,
 * with the revision that the user last saw: messages that another device marks unread stay unread until the user
 * returns to the conversation.
 *
 * The focus is withdrawn while the window lacks the user's attention, and restored when the attention returns.
 */

/** The server ignores the focus of a device that was silent for long, so `focus` sends it again after this time. */
const REMIND_EVERY_MS = 20_000;

interface Pane {
	readonly revision: number | undefined;
	/** When the focus was last sent; 0 if the server does not have it. */
	readonly sentAt: number;
}

export class Focus {
	private readonly panes = new Map<string, Pane>();

	constructor(
		private readonly now: () => number,
		private readonly send: (frame: Wire) => boolean,
		private readonly revision: (channel: string) => number | undefined,
		private readonly attention: Attention,
	) {
		attention.subscribe(() => this.attentionChanged());
	}

	/** The user is looking at the conversation. Counts as activity. */
	focus(channel: string): void {
		const revision = this.revision(channel);
		const pane = this.panes.get(channel);
		this.panes.set(channel, { revision, sentAt: pane && pane.revision === revision ? pane.sentAt : 0 });
		// If the attention returns with this activity, `attentionChanged` sends the focus.
		this.attention.active();
		const sentAt = this.panes.get(channel)?.sentAt ?? 0;
		if (this.now() - sentAt >= REMIND_EVERY_MS) this.sendFocus(channel, revision);
	}

	blur(channel: string): void {
		if (this.panes.delete(channel)) this.send({ type: 'channel_blur', channel });
	}

	/** Sends the focus again, with the revisions that the user saw: the server forgot it when the connection ended. */
	online(): void {
		for (const [channel, { revision }] of this.panes) this.sendFocus(channel, revision);
	}

	private attentionChanged(): void {
		const isAttentive = this.attention.getSnapshot();
		for (const [channel, { revision, sentAt }] of this.panes) {
			if (isAttentive) this.sendFocus(channel, revision);
			else if (sentAt > 0) {
				this.send({ type: 'channel_blur', channel });
				this.panes.set(channel, { revision, sentAt: 0 });
			}
		}
	}

	private sendFocus(channel: string, revision: number | undefined): void {
		const frame = { type: 'channel_focus', channel, ...(revision === undefined ? {} : { revision }) };
		const isSent = this.attention.getSnapshot() && this.send(frame);
		this.panes.set(channel, { revision, sentAt: isSent ? this.now() : 0 });
	}
}
