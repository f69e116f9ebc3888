import type { SQL } from 'bun';

const LEAVE_SECONDS = 5;

/**
 * Connections that are given up when they do not answer. A server that vanished (its machine lost power, a network
 * was cut) closes nothing: its caller would wait for ever. So after a while the whole pool is
 * closed, which fails what is under way on it, and a new one takes its place.
 */
export class Pool {
	private current: SQL;
	private closed = false;

	constructor(
		private readonly make: () => SQL,
		private readonly answerWithinMs: number,
	) {
		this.current = make();
	}

	/** The work has to be over in time, or fails as if the connection was closed. */
	async use<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
		const sql = this.current;
		const patience = setTimeout(() => this.giveUp(sql), this.answerWithinMs);
		try {
			return await work(sql);
		} finally {
			clearTimeout(patience);
		}
	}

	/** The same with all the time it needs. */
	useAtLeisure<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
		return work(this.current);
	}

	/** Uses new connections from here on; queries in flight may finish. */
	renew(): void {
		const sql = this.current;
		if (this.closed) return;
		this.current = this.make();
		void sql.close({ timeout: LEAVE_SECONDS }).catch(() => undefined);
	}

	/** What is in flight fails, as if the server had not answered in time. */
	abandon(): void {
		this.giveUp(this.current);
	}

	async close(): Promise<void> {
		this.closed = true;
		await this.current.close({ timeout: 0 });
	}

	private giveUp(sql: SQL): void {
		if (sql === this.current && !this.closed) this.current = this.make();
		void sql.close({ timeout: 0 }).catch(() => undefined);
	}
}
