import type { User } from '../engine/ports/store.ts';
import { Refusal } from '../model/errors.ts';
import type { RandomBytes } from '../model/ids.ts';

/**
 * What a socket is opened with: rtm.connect hands out an address with a ticket in it, and the ticket is
 * the only credential of the upgrade. It is good for one use within 30 seconds, in this process.
 */

const LIFETIME_MS = 30_000;
const TICKET_BYTES = 24;

export interface SocketOptions {
	/** Tell what happened after this stamp. */
	readonly since: number;
	/** Push unread_counts_updated. */
	readonly counts?: boolean;
}

export interface Admission {
	readonly user: User;
	readonly team: string;
	readonly tokenHash: string;
	/** When the token ends, and the socket with it: ms, or infinite. */
	readonly expiresAt: number;
	readonly options: SocketOptions;
}

export class Tickets {
	/** In the order they were issued, which is the order they expire in. */
	private readonly open = new Map<string, { readonly admission: Admission; readonly until: number }>();

	constructor(
		private readonly nowMs: () => number,
		private readonly random: RandomBytes,
		private readonly capacity = 100_000,
	) {}

	issue(admission: Admission): string {
		const now = this.nowMs();
		this.dropExpired(now);
		if (this.open.size >= this.capacity) throw new Refusal('service_unavailable', 'too many open tickets');
		const ticket = Buffer.from(this.random(TICKET_BYTES)).toString('base64url');
		this.open.set(ticket, { admission, until: now + LIFETIME_MS });
		return ticket;
	}

	/** Null for a ticket that is unknown, used or too old. */
	redeem(ticket: string): Admission | null {
		const found = this.open.get(ticket);
		if (!found) return null;
		this.open.delete(ticket);
		return found.until > this.nowMs() ? found.admission : null;
	}

	private dropExpired(now: number): void {
		for (const [ticket, { until }] of this.open) {
			if (until > now) return;
			this.open.delete(ticket);
		}
	}
}
