import { SQL } from 'bun';
import { toPostgresSchema } from '../../store/dialect.ts';
import { APPLIED_MIGRATIONS, pendingMigrations } from '../../store/migrations.ts';
import { type ConnectionOptions, tlsOf } from './connections.ts';
import { checkServer } from './schema.ts';

/** A look at the database: nothing is made or changed. */

export interface InspectedPostgres {
	readonly version: string;
	/** Null: there is no schema yet. */
	readonly pending: number | null;
	/** What its clock says. */
	readonly nowMs: number;
}

const CONNECT_SECONDS = 5;
const TABLE = `SELECT 1 FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'schema_migrations'`;
const FACTS = `SELECT current_setting('server_version') AS version,
	(extract(epoch from clock_timestamp()) * 1000)::double precision AS now_ms`;

/** Throws where it cannot be reached or used, and SchemaTooNew where a newer version wrote it. */
export async function inspectPostgres(
	place: Pick<ConnectionOptions, 'url' | 'ca'>,
	schema: string,
): Promise<InspectedPostgres> {
	const sql = new SQL(place.url, {
		...tlsOf(place),
		max: 1,
		connectionTimeout: CONNECT_SECONDS,
		connection: { application_name: 'tidemark', search_path: schema, default_transaction_read_only: 'on' },
	});
	try {
		await checkServer(sql);
		const [facts] = await sql.unsafe<{ version: string; now_ms: number }[]>(FACTS);
		const isThere = (await sql.unsafe(TABLE, [schema])).length > 0;
		const applied = isThere ? await sql.unsafe<{ name: string }[]>(toPostgresSchema(APPLIED_MIGRATIONS)) : [];
		return {
			version: facts?.version ?? '',
			pending: isThere ? pendingMigrations(applied.map(({ name }) => name)).length : null,
			nowMs: facts?.now_ms ?? 0,
		};
	} finally {
		await sql.close({ timeout: 0 });
	}
}
