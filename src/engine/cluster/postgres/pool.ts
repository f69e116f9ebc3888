import type { SQL } from 'bun';

const LEAVE_SECONDS = 5;

/**
 * Connections that are abandoned when they do not answer. A server that vanished (power failure, network partition) does not
 * close its connections, and callers would wait forever. So after a while the whole pool is closed, which fails its queries in flight,
 * and a new pool replaces it.
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

	/** The work fails after the time limit, as if the connection had been closed. */
	async use<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
		const sql = this.current;
		const timer = setTimeout(() => this.replace(sql), this.answerWithinMs);
		try {
			return await work(sql);
		} finally {
			clearTimeout(timer);
		}
	}

	/** As `use`, without a time limit. */
	useWithoutLimit<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
		return work(this.current);
	}

	/** Uses new connections from now on; queries in flight have `LEAVE_SECONDS` to finish. */
	renew(): void {
		const sql = this.current;
		if (this.closed) return;
		this.current = this.make();
		void sql.close({ timeout: LEAVE_SECONDS }).catch(() => undefined);
	}

	/** Fails queries in flight, as if the server had not answered in time. */
	abandon(): void {
		this.replace(this.current);
	}

	async close(): Promise<void> {
		this.closed = true;
		await this.current.close({ timeout: 0 });
	}

	private replace(sql: SQL): void {
		if (sql === this.current && !this.closed) this.current = this.make();
		void sql.close({ timeout: 0 }).catch(() => undefined);
	}
}
