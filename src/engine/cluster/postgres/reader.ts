import type { SQL } from 'bun';
import { messageOfError, Rejection } from '../../../model/errors.ts';
import { nextTurn } from '../../../model/next-turn.ts';
import { toPostgres } from '../../store/dialect.ts';
import type { Param, Row, SqlReader, Statement } from '../../store/sql.ts';
import { failureKindOf } from './errors.ts';
import type { Pool } from './pool.ts';
import type { RetryHooks } from './retry.ts';
import { toParam, withNumbers } from './values.ts';

/** Reads over a pool of connections; each call sees one snapshot. */
export class PostgresReader implements SqlReader {
	private readonly texts = new Map<string, string>();
	/** Number of reads that failed in a row. */
	private failures = 0;

	constructor(
		private readonly pool: Pool,
		private readonly watch: RetryHooks = {},
	) {}

	all<T>(sql: string, params: readonly Param[]): Promise<T[]> {
		return this.read(async (pool) => withNumbers<T>([...(await this.query(pool, sql, params))] as T[]));
	}

	together(queries: readonly Statement[]): Promise<Row[][]> {
		return this.read((pool) =>
			// One snapshot for all queries, which are pipelined.
			pool.begin('isolation level repeatable read read only', async (transaction) => {
				const results = queries.map(({ sql, params }) => this.query(transaction, sql, params));
				return (await Promise.all(results)).map((rows) => withNumbers<Row>([...rows]));
			}),
		);
	}

	pause(): Promise<void> {
		return nextTurn();
	}

	/** Retries once: after a restart of the server, the first query may get a dead connection. */
	async read<T>(work: (pool: SQL) => Promise<T>): Promise<T> {
		try {
			return this.succeeded(await this.pool.use(work));
		} catch (error) {
			if (failureKindOf(error) === 'rejected') throw error;
		}
		try {
			return this.succeeded(await this.pool.use(work));
		} catch (error) {
			if (failureKindOf(error) === 'rejected') throw error;
			this.failures += 1;
			const cause = new Error(messageOfError(error), { cause: error });
			this.watch.onTrouble?.(this.failures, cause);
			throw new Rejection('service_unavailable', 'the database is unavailable', undefined, cause);
		}
	}

	private query(on: Pick<SQL, 'unsafe'>, sql: string, params: readonly Param[]): Promise<Row[]> {
		let text = this.texts.get(sql);
		if (text === undefined) {
			text = toPostgres(sql);
			this.texts.set(sql, text);
		}
		return on.unsafe<Row[]>(text, params.map(toParam));
	}

	private succeeded<T>(result: T): T {
		if (this.failures > 0) this.watch.onRecovered?.();
		this.failures = 0;
		return result;
	}
}
