import { SQL } from 'bun';

/**
 * Two pools, so that neither a burst of reads holds commits back nor the other way round. A process takes
 * `reads + writes` connections at most, and opens them as they are needed.
 */

export interface ConnectionOptions {
	/** postgres://user:password@host:port/database */
	readonly url: string;
	/** Where the tables are; made where there is none. */
	readonly schema?: string;
	/** At most as many connections to read with. */
	readonly reads?: number;
	/** At most as many to write with: one for the group commit, the others for partitions. */
	readonly writes?: number;
}

export interface Connections {
	readonly reads: SQL;
	readonly writes: SQL;
	close(): Promise<void>;
}

export const DEFAULT_SCHEMA = 'tidemark';
const READS = 8;
const WRITES = 4;
const CONNECT_SECONDS = 10;
/** Long enough that a pause costs no new connection, short enough that firewalls do not cut it off unseen. */
const IDLE_SECONDS = 120;

export function connect(options: ConnectionOptions): Connections {
	const pool = (max: number, connection: Record<string, string>): SQL =>
		new SQL(options.url, {
			max,
			// int8 as BigInt, so that it can be told from a text; read back as numbers.
			bigint: true,
			connectionTimeout: CONNECT_SECONDS,
			idleTimeout: IDLE_SECONDS,
			connection: {
				application_name: 'tidemark',
				search_path: options.schema ?? DEFAULT_SCHEMA,
				...connection,
			},
		});
	const reads = pool(options.reads ?? READS, { default_transaction_read_only: 'on' });
	// What is acknowledged is on the disk, whatever the server's own setting.
	const writes = pool(options.writes ?? WRITES, { synchronous_commit: 'on' });
	return {
		reads,
		writes,
		async close() {
			await Promise.all([reads.close({ timeout: 0 }), writes.close({ timeout: 0 })]);
		},
	};
}
