import { SQL } from 'bun';
import { DEFAULT_SCHEMA } from './connections.ts';

/**
 * A lock that processes share by being alive: held on a connection of its own, so that whoever dies lets go of it.
 * Workers hold it together while they may have decided something that is not written yet; one that needs all of them to
 * have written waits to hold it alone.
 */

export interface SessionLockOptions {
	readonly url: string;
	readonly schema?: string;
}

const CONNECT_SECONDS = 10;
const KEY = `hashtextextended('tidemark written ' || current_setting('search_path'), 0)`;

export class SessionLock {
	private readonly sql: SQL;
	/** The session that holds it; another one means that it was lost with the connection. */
	private holder: number | null = null;

	constructor({ url, schema = DEFAULT_SCHEMA }: SessionLockOptions) {
		this.sql = new SQL(url, {
			max: 1,
			connectionTimeout: CONNECT_SECONDS,
			connection: { application_name: 'tidemark lock', search_path: schema },
		});
	}

	/** Holds it with others, from now on. Waits while one holds it alone; harmless when it is held. */
	async share(): Promise<void> {
		const session = await this.session();
		if (session === this.holder) return;
		await this.sql.unsafe(`SELECT pg_advisory_lock_shared(${KEY})`);
		this.holder = session;
	}

	/** Holds it alone, if nobody else holds it now. */
	async alone(): Promise<boolean> {
		const [row] = await this.sql.unsafe<{ held: boolean }[]>(`SELECT pg_try_advisory_lock(${KEY}) AS held`);
		return row?.held ?? false;
	}

	async release(): Promise<void> {
		this.holder = null;
		await this.sql.unsafe('SELECT pg_advisory_unlock_all()');
	}

	async close(): Promise<void> {
		await this.sql.close({ timeout: 0 });
	}

	private async session(): Promise<number> {
		const [row] = await this.sql.unsafe<{ session: number }[]>('SELECT pg_backend_pid() AS session');
		return row?.session ?? 0;
	}
}
