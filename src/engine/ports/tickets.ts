import type { RandomBytes } from '../../model/ids.ts';
import type { User } from './store.ts';

/**
 * What a socket is opened with: rtm.connect hands out an address with a ticket in it, and the ticket is the
 * only credential of the upgrade. It is good for one use within 30 seconds, at any gateway.
 */

export const TICKET_LIFETIME_MS = 30_000;

const TICKET_BYTES = 24;
const TICKET = /^[\w-]{32}$/;

/** Not to be guessed, and fit for an address. */
export const newTicket = (random: RandomBytes): string =>
	Buffer.from(random(TICKET_BYTES)).toString('base64url');
export const isTicket = (text: string): boolean => TICKET.test(text);

export interface SocketOptions {
	/** Tell what happened after this stamp. */
	readonly since: number;
	/** Push unread_counts_updated. */
	readonly counts?: boolean;
	/** Hello is also the reply to frame 1, for a client that sends nothing before it has one. */
	readonly helloReplies?: boolean;
}

export interface Admission {
	readonly user: User;
	readonly team: string;
	readonly tokenHash: string;
	/** When the token ends, and the socket with it: ms, or infinite. */
	readonly expiresAt: number;
	/** When the token was issued, ms; 0 where that is not known. */
	readonly issuedAt: number;
	readonly options: SocketOptions;
	/** How its client reaches the server: `https://host`. Absent in tickets of gateways before 0.2. */
	readonly origin?: string;
	/** A socket of this app's Socket Mode, whose bot the user is; absent: a socket of the user. */
	readonly app?: string;
}

export interface Tickets {
	issue(admission: Admission): Promise<string>;
	/** Null for a ticket that is unknown, used or too old. */
	redeem(ticket: string): Promise<Admission | null>;
}
