import { SQL } from 'bun';
import { Pool } from './pool.ts';

/**
 * Two pools, so that neither a burst of reads holds commits back nor the other way round. A process takes
 * `reads + writes` connections at most, and opens them as they are needed; and one more where it probes the server.
 */

export interface ConnectionOptions {
	/** postgres://user:password@host:port/database */
	readonly url: string;
	/** Authorities that its certificate is checked by, where the url asks for TLS (sslmode); PEM. */
	readonly ca?: string;
	/** Where the tables are; made where there is none. */
	readonly schema?: string;
	/** At most as many connections to read with. */
	readonly reads?: number;
	/** At most as many to write with: one for the group commit, the others for partitions. */
	readonly writes?: number;
	/** How long an answer may take before the server is taken to be gone. */
	readonly answerWithinMs?: number;
}

export interface Connections {
	readonly reads: Pool;
	readonly writes: Pool;
	/** Of one connection that answers within seconds or is replaced. */
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
/** Long enough that a pause costs no new connection, short enough that firewalls do not cut it off unseen. */
const IDLE_SECONDS = 120;

/**
 * Every query walks an index from one end, and is short. Before PostgreSQL has statistics of a table that grows
 * fast, it would gather and sort all of a conversation’s messages instead to find the newest; compiling takes
 * longer than any of them.
 */
const ALONG_INDICES = { enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' };

/** Without sslmode nothing is encrypted, whatever authorities there are. */
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
				// int8 as BigInt, to distinguish it from a text; read back as numbers.
				bigint: true,
				connectionTimeout: connectSeconds,
				idleTimeout: IDLE_SECONDS,
				connection: {
					application_name: 'tidemark',
					search_path: options.schema ?? DEFAULT_SCHEMA,
					// The other way round: the server releases the locks of a client that vanished, soon enough for who takes over from it.
					idle_in_transaction_session_timeout: String(Math.min(usualMs, IDLE_IN_TRANSACTION_MS)),
					tcp_user_timeout: String(usualMs),
					...ALONG_INDICES,
					...connection,
				},
			});
		return new Pool(make, answerWithinMs);
	};
	const reads = pool(options.reads ?? READS, { default_transaction_read_only: 'on' });
	// What is acknowledged is on the disk, whatever the server's own setting.
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
