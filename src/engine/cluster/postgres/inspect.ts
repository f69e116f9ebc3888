import { SQL } from 'bun';
import { toPostgresSchema } from '../../store/dialect.ts';
import { APPLIED_MIGRATIONS, pendingMigrations, SchemaTooNew } from '../../store/migrations.ts';
import { type ConnectionOptions, tlsOf } from './connections.ts';
import { unusable } from './errors.ts';
import { checkServer } from './schema.ts';

/** Inspects the database without changing anything. */

export interface InspectedPostgres {
	readonly version: string;
	/** Migrations to run; null: there is no schema yet. */
	readonly pending: number | null;
	/** Time of the server's clock. */
	readonly nowMs: number;
}

type PostgresAddress = Pick<ConnectionOptions, 'url' | 'ca'>;

const CONNECT_SECONDS = 5;
const TABLE = 'SELECT 1 FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2';
/** `row_to_json`, because older releases had no column topic_id. */
const PROGRESS = `SELECT partition, next_offset::double precision AS next_offset,
	row_to_json(progress)->>'topic_id' AS topic_id FROM partition_progress AS progress`;
const SERVER = `SELECT current_setting('server_version') AS version,
	(extract(epoch from clock_timestamp()) * 1000)::double precision AS now_ms`;

/** Throws PostgresUnusable, or SchemaTooNew if a newer version wrote the schema. */
export async function inspectPostgres(address: PostgresAddress, schema: string): Promise<InspectedPostgres> {
	return withConnection(address, schema, async (sql) => {
		await checkServer(sql);
		const [server] = await sql.unsafe<{ version: string; now_ms: number }[]>(SERVER);
		const isThere = await hasTable(sql, schema, 'schema_migrations');
		const applied = isThere ? await sql.unsafe<{ name: string }[]>(toPostgresSchema(APPLIED_MIGRATIONS)) : [];
		return {
			version: server?.version ?? '',
			pending: isThere ? pendingMigrations(applied.map(({ name }) => name)).length : null,
			nowMs: server?.now_ms ?? 0,
		};
	});
}

export interface InspectedProgress {
	readonly next: number;
	/** Id of the topic; null if unknown. */
	readonly topicId: string | null;
}

/** How far each partition of the log is persisted; only partitions with a row. */
export async function inspectProgress(
	address: PostgresAddress,
	schema: string,
): Promise<ReadonlyMap<string, InspectedProgress>> {
	return withConnection(address, schema, async (sql) => {
		if (!(await hasTable(sql, schema, 'partition_progress'))) return new Map();
		const rows =
			await sql.unsafe<{ partition: string; next_offset: number; topic_id: string | null }[]>(PROGRESS);
		return new Map(
			[...rows].map(({ partition, next_offset, topic_id }) => [
				partition,
				{ next: next_offset, topicId: topic_id },
			]),
		);
	});
}

async function withConnection<T>(
	address: PostgresAddress,
	schema: string,
	inspect: (sql: SQL) => Promise<T>,
): Promise<T> {
	const sql = new SQL(address.url, {
		...tlsOf(address),
		max: 1,
		connectionTimeout: CONNECT_SECONDS,
		connection: { application_name: 'tidemark', search_path: schema, default_transaction_read_only: 'on' },
	});
	try {
		return await inspect(sql);
	} catch (error) {
		throw error instanceof SchemaTooNew ? error : await unusable(address.url, error);
	} finally {
		await sql.close({ timeout: 0 });
	}
}

const hasTable = async (sql: SQL, schema: string, table: string): Promise<boolean> =>
	(await sql.unsafe(TABLE, [schema, table])).length > 0;
