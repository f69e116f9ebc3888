import type { Attention } from './public.ts';
import type { Wire } from './wire.ts';

/**
 * The conversations that this device shows to its user. The server marks new messages there as read, with the
 * revision that the user last saw: what another device marks unread meanwhile stays unread until the user looks
 * again.
 *
 * Focus follows attention: it is withdrawn while nobody is looking, and restored when the user returns.
 */

/** The server ignores the focus of a device that is silent for long; repeating it this often is enough. */
const REMIND_EVERY_MS = 20_000;

interface Pane {
	readonly revision: number | undefined;
	/** When focus was last sent; 0: not in focus for the server. */
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
		attention.subscribe(() => this.follow());
	}

	/** The user looks at the conversation, which counts as activity. */
	focus(channel: string): void {
		const revision = this.revision(channel);
		const pane = this.panes.get(channel);
		this.panes.set(channel, { revision, sentAt: pane && pane.revision === revision ? pane.sentAt : 0 });
		// If nobody was looking until now, `follow` sends the focus.
		this.attention.active();
		const sentAt = this.panes.get(channel)?.sentAt ?? 0;
		if (this.now() - sentAt >= REMIND_EVERY_MS) this.sendFocus(channel, revision);
	}

	blur(channel: string): void {
		if (this.panes.delete(channel)) this.send({ type: 'channel_blur', channel });
	}

	/** Focus ends with a connection: sends it again with the revisions that the user saw. */
	online(): void {
		for (const [channel, { revision }] of this.panes) this.sendFocus(channel, revision);
	}

	private follow(): void {
		const isThere = this.attention.getSnapshot();
		for (const [channel, { revision, sentAt }] of this.panes) {
			if (isThere) this.sendFocus(channel, revision);
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
