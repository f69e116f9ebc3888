import type { Database, Statement as Prepared } from 'bun:sqlite';
import { toSqlite } from '../../store/dialect.ts';
import type { Param, Row, SqlReader, Statement } from '../../store/sql.ts';
import { TurnBudget } from './turn-budget.ts';

/**
 * Reads on the thread that asks: a page out of the cache takes less time than handing it between threads.
 * A query is over when it returns, so nothing here holds an old view of the database open. Reads of one turn of the event
 * loop share a budget of time.
 */
export class SqliteReader implements SqlReader {
	readonly patient: SqlReader = {
		all: (sql, params) => this.budget.run(() => this.rows(sql, params) as never[], true),
		together: (queries) => this.budget.run(() => this.atOneMoment(queries), true),
		pause: () => this.pause(),
	};
	private readonly budget = new TurnBudget();
	private readonly prepared = new Map<string, Prepared<unknown, Param[]>>();

	constructor(private readonly database: Database) {}

	all<T>(sql: string, params: readonly Param[]): Promise<T[]> {
		return this.budget.run(() => this.rows(sql, params) as T[]);
	}

	together(queries: readonly Statement[]): Promise<Row[][]> {
		return this.budget.run(() => this.atOneMoment(queries));
	}

	pause(): Promise<void> {
		return new Promise((resolve) => setImmediate(resolve));
	}

	close(): void {
		for (const statement of this.prepared.values()) statement.finalize();
		this.prepared.clear();
	}

	private atOneMoment(queries: readonly Statement[]): Row[][] {
		this.database.run('BEGIN');
		try {
			return queries.map(({ sql, params }) => this.rows(sql, params) as Row[]);
		} finally {
			this.database.run('COMMIT');
		}
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
