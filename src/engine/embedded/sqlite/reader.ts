import type { Database, Statement as Prepared } from 'bun:sqlite';
import { toSqlite } from '../../store/dialect.ts';
import type { Param, Row, SqlReader, Statement } from '../../store/sql.ts';

/**
 * Reads on the thread that asks: a page out of the cache takes less time than handing it between threads.
 * A query is over when it returns, so nothing here holds an old view of the database open.
 */
export class SqliteReader implements SqlReader {
	private readonly prepared = new Map<string, Prepared<unknown, Param[]>>();

	constructor(private readonly database: Database) {}

	async all<T>(sql: string, params: readonly Param[]): Promise<T[]> {
		return this.rows(sql, params) as T[];
	}

	async together(queries: readonly Statement[]): Promise<Row[][]> {
		this.database.run('BEGIN');
		try {
			return queries.map(({ sql, params }) => this.rows(sql, params) as Row[]);
		} finally {
			this.database.run('COMMIT');
		}
	}

	pause(): Promise<void> {
		return new Promise((resolve) => setImmediate(resolve));
	}

	close(): void {
		for (const statement of this.prepared.values()) statement.finalize();
		this.prepared.clear();
	}

	private rows(sql: string, params: readonly Param[]): unknown[] {
		let statement = this.prepared.get(sql);
		if (statement === undefined) {
			statement = this.database.prepare<unknown, Param[]>(toSqlite(sql));
			this.prepared.set(sql, statement);
		}
		return statement.all(...params);
	}
}
