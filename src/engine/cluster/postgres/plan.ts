import type { SQL } from 'bun';
import { toPostgres } from '../../store/dialect.ts';
import type { Param, Statement } from '../../store/sql.ts';
import type { ManyRows, WriteSql } from '../../store/write-sql.ts';
import { arrayOf } from './values.ts';

/**
 * Turns a batch into few statements: a thousand posts become one insert of a thousand rows.
 *
 * Statements about different tables do not see each other's rows (there are no foreign keys and no triggers), so
 * the statements of each table are grouped, in their order. A statement about several tables stays in its place, and nothing
 * is moved across it.
 */

/** `table.column` and its type. */
export type ColumnTypes = ReadonlyMap<string, string>;

const COLUMN_TYPES = `SELECT table_name || '.' || column_name AS name, udt_name AS type
	FROM information_schema.columns WHERE table_schema = $1`;

export async function columnTypes(sql: SQL, schema: string): Promise<ColumnTypes> {
	const rows = await sql.unsafe<{ name: string; type: string }[]>(COLUMN_TYPES, [schema]);
	return new Map(rows.map(({ name, type }) => [name, type]));
}

const ROWS_PER_STATEMENT = 1000;

/** A statement in PostgreSQL's dialect. */
interface Prepared {
	readonly write: WriteSql;
	readonly one: string;
	/** Null: one row at a time. */
	readonly many: { readonly text: string; readonly key: readonly number[]; readonly params: number } | null;
}

interface Run {
	readonly prepared: Prepared;
	readonly rows: (readonly Param[])[];
	readonly keys: Set<string> | null;
}

export class Planner {
	private readonly statements = new Map<WriteSql, Prepared>();

	constructor(private readonly types: ColumnTypes) {}

	/** A null write was replaced by a later one. */
	plan(batch: {
		readonly writes: readonly (WriteSql | null)[];
		readonly params: readonly (readonly Param[])[];
	}): Statement[] {
		const statements: Statement[] = [];
		const tables = new Map<string, Table>();
		const finish = () => {
			for (const table of tables.values()) statements.push(...table.finish());
		};
		for (const [index, write] of batch.writes.entries()) {
			if (write === null) continue;
			const prepared = this.preparedOf(write);
			const params = batch.params[index] as readonly Param[];
			if (write.table === null) {
				finish();
				statements.push({ sql: prepared.one, params });
				continue;
			}
			let table = tables.get(write.table);
			if (table === undefined) {
				table = new Table();
				tables.set(write.table, table);
			}
			table.add(prepared, params);
		}
		finish();
		return statements;
	}

	private preparedOf(write: WriteSql): Prepared {
		let prepared = this.statements.get(write);
		if (prepared === undefined) {
			const { table, manyRows } = write;
			const many = table && manyRows ? this.manyOf(table, manyRows) : null;
			prepared = { write, one: toPostgres(write.text), many };
			this.statements.set(write, prepared);
		}
		return prepared;
	}

	private manyOf(table: string, { columns, key, text }: ManyRows): Prepared['many'] {
		const types = columns.map((column) => this.types.get(`${table}.${column}`));
		const unknown = columns.find((_, index) => types[index] === undefined);
		if (unknown !== undefined) throw new Error(`the database has no column ${table}.${unknown}`);
		const arrays = types.map((type, index) => `$${index + 1}::text::${type}[]`).join(', ');
		const names = types.map((_, index) => `p${index + 1}`).join(', ');
		return { text: text(`unnest(${arrays}) AS r(${names})`), key, params: columns.length };
	}
}

/** The statements about one table, in runs of the same text. */
class Table {
	private readonly closed: Run[] = [];
	/** More than one only if their order does not matter. */
	private open: Run[] = [];

	add(prepared: Prepared, params: readonly Param[]): void {
		const inserts = prepared.write.onlyInserts;
		if (!inserts || this.open.some((run) => !run.prepared.write.onlyInserts)) this.keepOnly(prepared);
		const key = keyOf(prepared, params);
		let run = this.open.find((one) => one.prepared === prepared);
		const full = run !== undefined && (run.rows.length >= ROWS_PER_STATEMENT || prepared.many === null);
		if (run === undefined || full || (key !== null && run.keys?.has(key))) {
			if (run !== undefined) this.close(run);
			run = { prepared, rows: [], keys: key === null ? null : new Set() };
			this.open.push(run);
		}
		run.rows.push(params);
		if (key !== null) run.keys?.add(key);
	}

	finish(): Statement[] {
		const statements = [...this.closed.splice(0), ...this.open].map(statementOf);
		this.open = [];
		return statements;
	}

	private keepOnly(prepared: Prepared): void {
		for (const run of [...this.open]) if (run.prepared !== prepared) this.close(run);
	}

	private close(run: Run): void {
		this.closed.push(run);
		this.open.splice(this.open.indexOf(run), 1);
	}
}

const keyOf = ({ many }: Prepared, params: readonly Param[]): string | null =>
	many === null || many.key.length === 0 ? null : many.key.map((place) => params[place]).join('\n');

function statementOf({ prepared, rows }: Run): Statement {
	const [first] = rows;
	if (prepared.many === null || (rows.length === 1 && first !== undefined))
		return { sql: prepared.one, params: first ?? [] };
	const arrays = Array.from({ length: prepared.many.params }, (_, place) =>
		arrayOf(rows.map((row) => row[place] as Param)),
	);
	return { sql: prepared.many.text, params: arrays };
}
