import type { Wire } from './wire.ts';

/**
 * What is before the user's eyes on this device. The server marks read what arrives there, with the revision that the user
 * saw when looking last: what another device marks unread meanwhile stays unread until the user looks again.
 */

/** The server takes a device that sends nothing for one that nobody looks at; this often is enough. */
const REMIND_EVERY_MS = 20_000;

interface Pane {
	readonly revision: number | undefined;
	readonly toldAt: number;
}

export class Focus {
	private readonly panes = new Map<string, Pane>();

	constructor(
		private readonly now: () => number,
		private readonly send: (frame: Wire) => boolean,
		private readonly revision: (channel: string) => number | undefined,
	) {}

	focus(channel: string): void {
		const revision = this.revision(channel);
		const pane = this.panes.get(channel);
		if (pane && pane.revision === revision && this.now() - pane.toldAt < REMIND_EVERY_MS) return;
		this.tell(channel, revision);
	}

	blur(channel: string): void {
		if (this.panes.delete(channel)) this.send({ type: 'channel_blur', channel });
	}

	/** Focus ends with a connection: the next one is told, with what the user saw. */
	online(): void {
		for (const [channel, { revision }] of this.panes) this.tell(channel, revision);
	}

	private tell(channel: string, revision: number | undefined): void {
		const frame = { type: 'channel_focus', channel, ...(revision === undefined ? {} : { revision }) };
		this.panes.set(channel, { revision, toldAt: this.send(frame) ? this.now() : 0 });
	}
}
