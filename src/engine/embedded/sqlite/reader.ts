import type { Database, Statement as Prepared } from 'bun:sqlite';
import { Rejection } from '../../../model/errors.ts';
import { nextTurn } from '../../../model/next-turn.ts';
import { toSqlite } from '../../store/dialect.ts';
import type { Param, Row, SqlReader, Statement } from '../../store/sql.ts';
import { TurnBudget } from './turn-budget.ts';

/**
 * Reads on the calling thread: a cached page takes less time than passing it between threads.
 * A query ends before it returns, so nothing keeps an old snapshot of the database open. Reads in one turn of the event
 * loop share a time budget.
 */
export class SqliteReader implements SqlReader {
	readonly lowPriority: SqlReader = {
		all: (sql, params) => this.budget.run(() => this.rows(sql, params) as never[], true),
		together: (queries) => this.budget.run(() => this.atOneMoment(queries), true),
		pause: () => this.pause(),
	};
	private readonly budget = new TurnBudget();
	private readonly prepared = new Map<string, Prepared<unknown, Param[]>>();
	private isClosed = false;

	constructor(private readonly database: Database) {}

	all<T>(sql: string, params: readonly Param[]): Promise<T[]> {
		return this.budget.run(() => this.rows(sql, params) as T[]);
	}

	together(queries: readonly Statement[]): Promise<Row[][]> {
		return this.budget.run(() => this.atOneMoment(queries));
	}

	pause(): Promise<void> {
		return nextTurn();
	}

	/** Rejects reads that are still queued. */
	close(): void {
		this.isClosed = true;
		for (const statement of this.prepared.values()) statement.finalize();
		this.prepared.clear();
	}

	private atOneMoment(queries: readonly Statement[]): Row[][] {
		this.checkOpen();
		this.database.run('BEGIN');
		try {
			return queries.map(({ sql, params }) => this.rows(sql, params) as Row[]);
		} finally {
			this.database.run('COMMIT');
		}
	}

	private checkOpen(): void {
		if (this.isClosed) throw new Rejection('service_unavailable', 'the store is closed');
	}

	private rows(sql: string, params: readonly Param[]): unknown[] {
		this.checkOpen();
		let statement = this.prepared.get(sql);
		if (statement === undefined) {
			statement = this.database.prepare<unknown, Param[]>(toSqlite(sql));
			this.prepared.set(sql, statement);
		}
		return statement.all(...params);
	}
}
