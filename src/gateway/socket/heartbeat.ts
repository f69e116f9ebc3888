import type { Connection } from './connection.ts';

/**
 * Detects clients that disappeared without closing: a closed lid, a pulled cable, a hung process. A client that is
 * silent for `timeoutMs` is pinged; after as much silence again its socket is closed, even while the server keeps
 * writing to it.
 *
 * Silence is counted in checks, not in time: while this process is blocked no check runs, and what clients sent
 * meanwhile is read before the next check.
 */

const CHECKS_PER_TIMEOUT = 4;

export interface HeartbeatOptions {
	readonly eachConnection: (visit: (connection: Connection) => void) => void;
	readonly timeoutMs: number;
}

export class Heartbeat {
	private readonly timer: ReturnType<typeof setInterval>;

	constructor(private readonly options: HeartbeatOptions) {
		this.timer = setInterval(() => this.check(), options.timeoutMs / CHECKS_PER_TIMEOUT);
		this.timer.unref?.();
	}

	/** The client sent something, or read what was sent to it. */
	received(connection: Connection): void {
		connection.silentChecks = 0;
		connection.isPinged = false;
	}

	/** Returns the number of the ping. The first unanswered ping starts the client's time to answer. */
	ping(connection: Connection): number {
		if (!connection.isPinged) {
			connection.isPinged = true;
			connection.silentChecks = 0;
		}
		return connection.ping();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	private check(): void {
		const unresponsive: Connection[] = [];
		this.options.eachConnection((connection) => {
			connection.silentChecks += 1;
			if (connection.silentChecks <= CHECKS_PER_TIMEOUT) return;
			if (connection.isPinged) unresponsive.push(connection);
			else this.ping(connection);
		});
		// Closing removes connections from the iterated list, so it happens afterwards.
		for (const connection of unresponsive) connection.close('unresponsive');
	}
}
