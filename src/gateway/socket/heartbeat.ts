import type { Connection } from './connection.ts';

/**
 * Finds peers that are gone without a word: a closed lid, a pulled cable, a hung process. A client that is silent for
 * `timeoutMs` is pinged; one that stays silent for as long again is closed, also while the server keeps writing to it.
 *
 * Silence is counted in looks and not in time: while this process is stalled it does not look, and what clients answered
 * meanwhile is read before the next look.
 */

const LOOKS_PER_TIMEOUT = 4;

export interface HeartbeatOptions {
	readonly connections: () => Iterable<Connection>;
	readonly timeoutMs: number;
}

export class Heartbeat {
	private readonly timer: ReturnType<typeof setInterval>;

	constructor(private readonly options: HeartbeatOptions) {
		this.timer = setInterval(() => this.look(), options.timeoutMs / LOOKS_PER_TIMEOUT);
		this.timer.unref?.();
	}

	/** The client sent something, or took what was sent to it. */
	received(connection: Connection): void {
		connection.silentLooks = 0;
		connection.isPinged = false;
	}

	/** Returns the number of the ping. The first unanswered ping starts the client's time to answer. */
	ping(connection: Connection): number {
		if (!connection.isPinged) {
			connection.isPinged = true;
			connection.silentLooks = 0;
		}
		return connection.ping();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	private look(): void {
		const unresponsive: Connection[] = [];
		for (const connection of this.options.connections()) {
			connection.silentLooks += 1;
			if (connection.silentLooks <= LOOKS_PER_TIMEOUT) continue;
			if (connection.isPinged) unresponsive.push(connection);
			else this.ping(connection);
		}
		// Closing detaches them from what was just iterated.
		for (const connection of unresponsive) connection.close('unresponsive');
	}
}
