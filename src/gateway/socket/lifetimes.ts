import type { Connection } from './connection.ts';

/**
 * Closes sockets when their token expires. One timer checks all sockets that have an expiry: a timer for each would
 * cost more.
 */

const CHECK_EVERY_MS = 500;

export class Lifetimes {
	private readonly ending = new Map<Connection, number>();
	private readonly timer: ReturnType<typeof setInterval>;

	constructor(private readonly nowMs: () => number) {
		this.timer = setInterval(() => this.check(), CHECK_EVERY_MS);
		this.timer.unref?.();
	}

	/** `expiresAt`: ms; infinite for a token that does not expire. */
	began(connection: Connection, expiresAt: number): void {
		if (expiresAt <= this.nowMs()) connection.close('token_expired');
		else if (Number.isFinite(expiresAt)) this.ending.set(connection, expiresAt);
	}

	ended(connection: Connection): void {
		this.ending.delete(connection);
	}

	stop(): void {
		clearInterval(this.timer);
	}

	private check(): void {
		const now = this.nowMs();
		for (const [connection, expiresAt] of this.ending) {
			if (expiresAt > now) continue;
			this.ending.delete(connection);
			connection.close('token_expired');
		}
	}
}
