import { SQL } from 'bun';
import { DEFAULT_SCHEMA, tlsOf } from './connections.ts';
import { Pool } from './pool.ts';

/**
 * An advisory lock, held on a connection of its own, so that the server releases it when the process dies.
 * Workers share it while they may have effects that are not persisted yet; a worker that needs all others to
 * have persisted theirs waits to hold it exclusively. A worker stops waiting if a holder of the lock is silent, so two workers may
 * want to rebuild: only the one that also gets a second lock (`tryElect`) does.
 *
 * PostgreSQL never blocks on the lock: the process polls for it, and every query has a time limit. If the server does not
 * answer, the query fails, and the connection is replaced.
 */

export interface SessionLockOptions {
	readonly url: string;
	/** Certificate authorities, PEM. */
	readonly ca?: string;
	readonly schema?: string;
	/** If an answer takes longer, the server counts as unreachable. */
	readonly answerWithinMs?: number;
	/** A holder that has sent no query for longer is paused or cut off. */
	readonly silentAfterMs?: number;
}

const CONNECT_SECONDS = 10;
const ANSWER_WITHIN_MS = 10_000;
/** Longer than a process needs to replace a connection that does not answer. */
const SILENT_AFTER_MS = 15_000;
const POLL_MS = 100;
const keyOf = (about: string): string =>
	`hashtextextended('tidemark ${about} ' || current_setting('search_path'), 0)`;
const WRITERS = keyOf('written');
/** The second lock: only one worker rebuilds. */
const ELECTION = keyOf('restoring');
const ACTIVE_HOLDERS = `SELECT count(*) AS count FROM pg_locks JOIN pg_stat_activity USING (pid)
	WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
	AND (classid::bigint << 32 | objid::bigint) = ${WRITERS}
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
	AND state_change > clock_timestamp() - $1 * interval '1 ms'`;

export class SessionLock {
	/** With a single connection. */
	private readonly pool: Pool;
	private closed = false;
	/** Session that holds the lock; if it changes, the lock was lost with the connection. */
	private holder: number | null = null;
	/** Session that holds the second lock. */
	private electedSession: number | null = null;

	private readonly silentAfterMs: number;

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
		this.silentAfterMs = options.silentAfterMs ?? SILENT_AFTER_MS;
	}

	/** Shares the lock from now on. Waits while another process holds it exclusively; harmless if already held. */
	async share(): Promise<void> {
		while (!this.closed && !(await this.tryShare())) await Bun.sleep(POLL_MS);
	}

	/** Shares the lock, unless another process holds it exclusively. A holder that repeats this is not silent. */
	async tryShare(): Promise<boolean> {
		const session = await this.session();
		if (session === this.holder) return true;
		if (await this.tryLock('pg_try_advisory_lock_shared', WRITERS)) this.holder = session;
		return session === this.holder;
	}

	/** Whether this process shared the lock and lost it with its connection: another process may have held it exclusively since. */
	async isLost(): Promise<boolean> {
		return this.holder !== null && (await this.session()) !== this.holder;
	}

	/** Whether another process that holds the lock is not silent. */
	async hasActiveHolder(): Promise<boolean> {
		const [row] = await this.pool.use((sql) =>
			sql.unsafe<{ count: number }[]>(ACTIVE_HOLDERS, [this.silentAfterMs]),
		);
		return Number(row?.count ?? 0) > 0;
	}

	/** Takes the lock exclusively, if no other process holds it. */
	async tryExclusive(): Promise<boolean> {
		return this.tryLock('pg_try_advisory_lock', WRITERS);
	}

	/** Takes the second lock: only one process has it, until it releases it. */
	async tryElect(): Promise<boolean> {
		const session = await this.session();
		if (session === this.electedSession) return true;
		this.electedSession = (await this.tryLock('pg_try_advisory_lock', ELECTION)) ? session : null;
		return this.electedSession !== null;
	}

	/** Whether the second lock is still held: it would have been lost with the connection, perhaps to another process. */
	async isElected(): Promise<boolean> {
		return this.electedSession !== null && (await this.session()) === this.electedSession;
	}

	async release(): Promise<void> {
		this.holder = null;
		this.electedSession = null;
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

	private async tryLock(
		lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
		key: string,
	): Promise<boolean> {
		const [row] = await this.pool.use((sql) =>
			sql.unsafe<{ held: boolean }[]>(`SELECT ${lock}(${key}) AS held`),
		);
		return row?.held ?? false;
	}
}
