import { SQL } from 'bun';
import { Pool } from './pool.ts';

/**
 * Two pools, so that neither a burst of reads holds commits back nor the other way round. A process takes
 * `reads + writes` connections at most, and opens them as they are needed.
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
	close(): Promise<void>;
}

export const DEFAULT_SCHEMA = 'tidemark';
const READS = 8;
const WRITES = 4;
const ANSWER_WITHIN_MS = 30_000;
const CONNECT_SECONDS = 10;
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
	const answerWithinMs = options.answerWithinMs ?? ANSWER_WITHIN_MS;
	const pool = (max: number, connection: Record<string, string>): Pool => {
		const make = () =>
			new SQL(options.url, {
				...tlsOf(options),
				max,
				// int8 as BigInt, so that it can be told from a text; read back as numbers.
				bigint: true,
				connectionTimeout: CONNECT_SECONDS,
				idleTimeout: IDLE_SECONDS,
				connection: {
					application_name: 'tidemark',
					search_path: options.schema ?? DEFAULT_SCHEMA,
					// The other way round: the server lets go of the locks of a client that vanished.
					idle_in_transaction_session_timeout: String(answerWithinMs),
					tcp_user_timeout: String(answerWithinMs),
					...ALONG_INDICES,
					...connection,
				},
			});
		return new Pool(make, answerWithinMs);
	};
	const reads = pool(options.reads ?? READS, { default_transaction_read_only: 'on' });
	// What is acknowledged is on the disk, whatever the server's own setting.
	const writes = pool(options.writes ?? WRITES, { synchronous_commit: 'on' });
	return {
		reads,
		writes,
		async close() {
			await Promise.all([reads.close(), writes.close()]);
		},
	};
}
