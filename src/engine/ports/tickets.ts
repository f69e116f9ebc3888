import type { RandomBytes } from '../../model/ids.ts';
import type { User } from './store.ts';

/**
 * Tickets to open sockets with: rtm.connect returns a URL with a ticket, and the ticket is the only credential
 * of the upgrade. It is valid for one use within 30 seconds, at any gateway.
 */

export const TICKET_LIFETIME_MS = 30_000;

const TICKET_BYTES = 24;
const TICKET = /^[\w-]{32}$/;

/** Unguessable and URL-safe. */
export const newTicket = (random: RandomBytes): string =>
	Buffer.from(random(TICKET_BYTES)).toString('base64url');
export const isTicket = (text: string): boolean => TICKET.test(text);

export interface SocketOptions {
	/** Deliver events after this stamp. */
	readonly since: number;
	/** Push unread_counts_updated events. */
	readonly counts?: boolean;
	/** The hello event is also the reply to frame 1, for clients that wait for a reply before they send more. */
	readonly helloReplies?: boolean;
}

export interface Admission {
	readonly user: User;
	readonly team: string;
	readonly tokenKey: string;
	/** When the token expires, and the socket closes: in ms, or infinite. */
	readonly expiresAt: number;
	/** When the token was issued, in ms; 0 if unknown. */
	readonly issuedAt: number;
	readonly options: SocketOptions;
	/** The server's address from the client's view: `https://host`. Absent in tickets of older gateways. */
	readonly origin?: string;
	/** A Socket Mode connection of this app, whose bot is the user; absent: a socket of the user. */
	readonly app?: string;
}

export interface Tickets {
	issue(admission: Admission): Promise<string>;
	/** Null if the ticket is unknown, used or expired. */
	redeem(ticket: string): Promise<Admission | null>;
}
