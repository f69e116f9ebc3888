import { SQL } from 'bun';
import { DEFAULT_SCHEMA, tlsOf } from './connections.ts';
import { Pool } from './pool.ts';

/**
 * A lock that processes share by being alive: held on a connection of its own, so that whoever dies lets go of it.
 * Workers hold it together while they may have decided something that is not written yet; one that needs all of them to
 * have written waits to hold it alone.
 *
 * PostgreSQL is never left to wait for the lock: it is asked for it again and again, and every question has to be answered in
 * time. A server that fell silent fails what is asked of it, and the connection is given up.
 */

export interface SessionLockOptions {
	readonly url: string;
	/** Authorities, PEM. */
	readonly ca?: string;
	readonly schema?: string;
	/** How long an answer may take before the server is taken to be gone. */
	readonly answerWithinMs?: number;
}

const CONNECT_SECONDS = 10;
const ANSWER_WITHIN_MS = 10_000;
const ASK_AGAIN_MS = 100;
const KEY = `hashtextextended('tidemark written ' || current_setting('search_path'), 0)`;

export class SessionLock {
	/** Of one connection. */
	private readonly pool: Pool;
	private closed = false;
	/** The session that holds it; another one means that it was lost with the connection. */
	private holder: number | null = null;

	constructor(options: SessionLockOptions) {
		const { url, schema = DEFAULT_SCHEMA, answerWithinMs = ANSWER_WITHIN_MS } = options;
		const make = () =>
			new SQL(url, {
				...tlsOf(options),
				max: 1,
				connectionTimeout: CONNECT_SECONDS,
				connection: { application_name: 'tidemark lock', search_path: schema },
			});
		this.pool = new Pool(make, answerWithinMs);
	}

	/** Holds it with others, from now on. Waits while one holds it alone; harmless when it is held. */
	async share(): Promise<void> {
		while (!this.closed) {
			const session = await this.session();
			if (session === this.holder) return;
			if (await this.asks('pg_try_advisory_lock_shared')) this.holder = session;
			else await Bun.sleep(ASK_AGAIN_MS);
		}
	}

	/** Holds it alone, if nobody else holds it now. */
	async alone(): Promise<boolean> {
		return this.asks('pg_try_advisory_lock');
	}

	async release(): Promise<void> {
		this.holder = null;
		await this.pool.use((sql) => sql.unsafe('SELECT pg_advisory_unlock_all()'));
	}

	async close(): Promise<void> {
		this.closed = true;
		await this.pool.close();
	}

	private async session(): Promise<number> {
		const [row] = await this.pool.use((sql) =>
			sql.unsafe<{ session: number }[]>('SELECT pg_backend_pid() AS session'),
		);
		return row?.session ?? 0;
	}

	private async asks(lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared'): Promise<boolean> {
		const [row] = await this.pool.use((sql) =>
			sql.unsafe<{ held: boolean }[]>(`SELECT ${lock}(${KEY}) AS held`),
		);
		return row?.held ?? false;
	}
}
