import { Database, type SQLQueryBindings } from 'bun:sqlite';
import { join } from 'node:path';

/** Changes the database of a data directory without the knowledge of the server that uses it. */
export function changeDirectly(dataDir: string, sql: string, ...params: SQLQueryBindings[]): void {
	const database = new Database(join(dataDir, 'tidemark.db'));
	// The server may be writing now: its search index is updated a little after a post.
	database.run('PRAGMA busy_timeout = 60000');
	database.run(sql, params);
	database.close();
}
