/**
 * Checks the message order of one socket: every message names the one before it, so an unbroken chain up to the
 * newest message proves that all were received, each once and in order. Pure.
 */

const NOTHING = '0000000000.000000';

export type Order = 'next' | 'gap' | 'repeated';

export class OrderCheck {
	private readonly newest = new Map<string, string>();
	/** After a resync, the first message of each conversation is accepted without a predecessor. */
	private hasRestarted = false;

	receive(channel: string, prevTs: string, ts: string): Order {
		const known = this.newest.get(channel);
		if (known !== undefined && ts <= known) return 'repeated';
		this.newest.set(channel, ts);
		if (known === undefined && this.hasRestarted) return 'next';
		return prevTs === (known ?? NOTHING) ? 'next' : 'gap';
	}

	newestIn(channel: string): string {
		return this.newest.get(channel) ?? NOTHING;
	}

	lacks(channel: string, ts: string): boolean {
		const known = this.newest.get(channel);
		return known === undefined ? !this.hasRestarted : known < ts;
	}

	restart(): void {
		this.newest.clear();
		this.hasRestarted = true;
	}
}
