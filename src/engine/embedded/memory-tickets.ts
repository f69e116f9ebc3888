import { Rejection } from '../../model/errors.ts';
import type { RandomBytes } from '../../model/ids.ts';
import { type Admission, newTicket, TICKET_LIFETIME_MS, type Tickets } from '../ports/tickets.ts';

/** Tickets of this process. */
export class MemoryTickets implements Tickets {
	/** In the order of issue, which is also the order of expiry. */
	private readonly open = new Map<string, { readonly admission: Admission; readonly until: number }>();

	constructor(
		private readonly nowMs: () => number,
		private readonly random: RandomBytes,
		private readonly capacity = 100_000,
	) {}

	async issue(admission: Admission): Promise<string> {
		const now = this.nowMs();
		this.dropExpired(now);
		if (this.open.size >= this.capacity) throw new Rejection('service_unavailable', 'too many open tickets');
		const ticket = newTicket(this.random);
		this.open.set(ticket, { admission, until: now + TICKET_LIFETIME_MS });
		return ticket;
	}

	async redeem(ticket: string): Promise<Admission | null> {
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
