import { Database, type Statement } from 'bun:sqlite';
import { migrate } from '../../src/engine/embedded/sqlite/schema.ts';
import type { Param, Row } from '../../src/engine/store/sql.ts';

/**
 * The only database of this process. Histories use it one after the other, and each starts with the rows of an image: with a new
 * database, preparing all statements again would take longer than the history.
 */

/** Rows by table. */
export type Image = ReadonlyMap<string, readonly Row[]>;

interface Shared {
	readonly database: Database;
	readonly statements: Map<string, Statement<unknown, Param[]>>;
	readonly empty: Image;
}

/** The tables that PostgreSQL has and SQLite does not. */
const ONLY_ON_POSTGRES = [
	'CREATE TABLE partition_progress (partition TEXT PRIMARY KEY, next_offset BIGINT NOT NULL, topic_id TEXT)',
	'CREATE TABLE commit_rows (id TEXT PRIMARY KEY, token BIGINT NOT NULL, written_at TEXT NOT NULL)',
];
const WORDS = 'message_words';
const TABLES = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '${WORDS}%'`;

let shared: Shared | undefined;

export function emptiedDatabase(): Pick<Shared, 'database' | 'statements'> {
	shared ??= newDatabase();
	restoreImage(shared.database, shared.empty);
	return shared;
}

function newDatabase(): Shared {
	const database = new Database(':memory:');
	migrate(database, 0);
	for (const table of ONLY_ON_POSTGRES) database.run(table);
	const prepared = new Map<string, Statement>();
	const prepare = database.prepare.bind(database);
	database.prepare = ((sql: string) => {
		let statement = prepared.get(sql);
		if (!statement) {
			statement = prepare(sql);
			prepared.set(sql, statement);
		}
		return statement;
	}) as typeof database.prepare;
	return { database, statements: new Map(), empty: imageOf(database) };
}

export function imageOf(database: Database): Image {
	const tables = database.prepare(TABLES).all() as { name: string }[];
	return new Map(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all() as Row[]]));
}

export function restoreImage(database: Database, image: Image): void {
	database.run('BEGIN');
	for (const [table, rows] of image) {
		database.prepare(`DELETE FROM ${table}`).run();
		for (const row of rows) {
			const values = Object.values(row) as Param[];
			database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values);
		}
	}
	database.prepare(`INSERT INTO ${WORDS} (${WORDS}) VALUES ('delete-all')`).run();
	database.run('COMMIT');
}
