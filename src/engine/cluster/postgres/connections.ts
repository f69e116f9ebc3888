import { SQL } from 'bun';
import { Pool } from './pool.ts';

/**
 * Two pools, so that a burst of reads does not delay commits, nor the reverse. A process uses at most
 * `reads + writes` connections, opened on demand. A worker uses two more: to probe the server, and for its lock (session-lock.ts).
 */

export interface ConnectionOptions {
	/** postgres://user:password@host:port/database */
	readonly url: string;
	/** Certificate authorities (PEM) to verify the server with, if the url asks for TLS (sslmode). */
	readonly ca?: string;
	/** Schema of the tables; created if missing. */
	readonly schema?: string;
	/** Maximum number of connections for reads. */
	readonly reads?: number;
	/** Maximum number for writes: one for the group commit, the others for partitions. */
	readonly writes?: number;
	/** If an answer takes longer, the server counts as unreachable. */
	readonly answerWithinMs?: number;
}

export interface Connections {
	readonly reads: Pool;
	readonly writes: Pool;
	/** A single connection, replaced if it does not answer within seconds. */
	readonly probe: Pool;
	close(): Promise<void>;
}

export const DEFAULT_SCHEMA = 'tidemark';
const READS = 8;
const WRITES = 4;
const ANSWER_WITHIN_MS = 30_000;
const CONNECT_SECONDS = 10;
const PROBE_SECONDS = 3;
const IDLE_IN_TRANSACTION_MS = 10_000;
/** Long enough that a pause costs no new connection, short enough that firewalls do not drop it silently. */
const IDLE_SECONDS = 120;

/**
 * Every query is short and walks an index from one end. Without these settings, and before PostgreSQL has statistics of a
 * fast-growing table, it would fetch and sort all messages of a conversation to find the newest; JIT compilation would take
 * longer than any query.
 */
const ALONG_INDICES = { enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' };

/** Without sslmode nothing is encrypted, even if authorities are given. */
export const tlsOf = ({ url, ca }: Pick<ConnectionOptions, 'url' | 'ca'>): { tls?: { ca: string } } =>
	ca !== undefined && (new URL(url).searchParams.get('sslmode') ?? 'disable') !== 'disable'
		? { tls: { ca } }
		: {};

export function connect(options: ConnectionOptions): Connections {
	const usualMs = options.answerWithinMs ?? ANSWER_WITHIN_MS;
	const pool = (
		max: number,
		connection: Record<string, string>,
		answerWithinMs = usualMs,
		connectSeconds = CONNECT_SECONDS,
	): Pool => {
		const make = () =>
			new SQL(options.url, {
				...tlsOf(options),
				max,
				// int8 as BigInt, to distinguish it from a text; converted to numbers on reading.
				bigint: true,
				connectionTimeout: connectSeconds,
				idleTimeout: IDLE_SECONDS,
				connection: {
					application_name: 'tidemark',
					search_path: options.schema ?? DEFAULT_SCHEMA,
					// If this process vanishes, the server releases its locks soon enough for the next owner.
					idle_in_transaction_session_timeout: String(Math.min(usualMs, IDLE_IN_TRANSACTION_MS)),
					tcp_user_timeout: String(usualMs),
					...ALONG_INDICES,
					...connection,
				},
			});
		return new Pool(make, answerWithinMs);
	};
	const reads = pool(options.reads ?? READS, { default_transaction_read_only: 'on' });
	// Acknowledged changes are on disk, whatever the server's default.
	const writes = pool(options.writes ?? WRITES, { synchronous_commit: 'on' });
	const probe = pool(1, { default_transaction_read_only: 'on' }, PROBE_SECONDS * 1000, PROBE_SECONDS);
	return {
		reads,
		writes,
		probe,
		async close() {
			await Promise.all([reads.close(), writes.close(), probe.close()]);
		},
	};
}
