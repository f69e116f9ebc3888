import type { RandomBytes } from '../../../model/ids.ts';
import {
	type Admission,
	isTicket,
	newTicket,
	TICKET_LIFETIME_MS,
	type Tickets,
} from '../../ports/tickets.ts';
import type { Commands } from './connection.ts';
import type { Keys } from './keys.ts';

/** Tickets that any gateway can redeem. Redis removes expired ones, and returns each only once. */
export class RedisTickets implements Tickets {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly random: RandomBytes,
		private readonly lifetimeMs = TICKET_LIFETIME_MS,
	) {}

	async issue(admission: Admission): Promise<string> {
		const ticket = newTicket(this.random);
		await this.commands.set(this.keys.ticket(ticket), encode(admission), 'PX', this.lifetimeMs);
		return ticket;
	}

	async redeem(ticket: string): Promise<Admission | null> {
		// Arbitrary text from a URL must not become a key.
		if (!isTicket(ticket)) return null;
		const found = await this.commands.getdel(this.keys.ticket(ticket));
		return found === null ? null : decode(found);
	}
}

/** JSON has no infinity: null stands for a token that does not expire. */
const encode = (admission: Admission): string => JSON.stringify(admission);

function decode(text: string): Admission {
	const admission = JSON.parse(text) as Admission & { readonly expiresAt: number | null };
	return { ...admission, expiresAt: admission.expiresAt ?? Number.POSITIVE_INFINITY };
}
