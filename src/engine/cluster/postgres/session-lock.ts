import { SQL } from 'bun';
import { DEFAULT_SCHEMA, tlsOf } from './connections.ts';
import { Pool } from './pool.ts';

/**
 * A lock that processes share by being alive: held on a connection of its own, so that a process that dies releases it.
 * Workers hold it together while they may have decided something that is not written yet; one that needs all of them to
 * have written waits to hold it alone. Who gives up waiting, because one of them does nothing any more, has to be the first to.
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
const keyOf = (about: string): string =>
	`hashtextextended('tidemark ${about} ' || current_setting('search_path'), 0)`;
const KEY = keyOf('written');
/** A second one, for who does not wait any longer to hold the first alone. */
const FIRST = keyOf('restoring');

export class SessionLock {
	/** Of one connection. */
	private readonly pool: Pool;
	private closed = false;
	/** The session that holds it; another one means that it was lost with the connection. */
	private holder: number | null = null;
	/** Likewise, of being the first. */
	private first: number | null = null;

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
			if (await this.asks('pg_try_advisory_lock_shared', KEY)) this.holder = session;
			else await Bun.sleep(ASK_AGAIN_MS);
		}
	}

	/** Holds it alone, if nobody else holds it now. */
	async alone(): Promise<boolean> {
		return this.asks('pg_try_advisory_lock', KEY);
	}

	/** Of all that would do what one of them has to do: only one is, until it releases. */
	async isFirst(): Promise<boolean> {
		const session = await this.session();
		if (session === this.first) return true;
		this.first = (await this.asks('pg_try_advisory_lock', FIRST)) ? session : null;
		return this.first !== null;
	}

	/** Whether it has been so since it was asked for: with the connection it would have been lost, to another one perhaps. */
	async isStillFirst(): Promise<boolean> {
		return this.first !== null && (await this.session()) === this.first;
	}

	async release(): Promise<void> {
		this.holder = null;
		this.first = null;
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

	private async asks(
		lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
		key: string,
	): Promise<boolean> {
		const [row] = await this.pool.use((sql) =>
			sql.unsafe<{ held: boolean }[]>(`SELECT ${lock}(${key}) AS held`),
		);
		return row?.held ?? false;
	}
}
