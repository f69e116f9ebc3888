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
	readonly known: Prepared;
	readonly rows: (readonly Param[])[];
	readonly keys: Set<string> | null;
}

export class Planner {
	private readonly known = new Map<WriteSql, Prepared>();

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
			const known = this.knownOf(write);
			const params = batch.params[index] as readonly Param[];
			if (write.table === null) {
				finish();
				statements.push({ sql: known.one, params });
				continue;
			}
			let table = tables.get(write.table);
			if (table === undefined) {
				table = new Table();
				tables.set(write.table, table);
			}
			table.add(known, params);
		}
		finish();
		return statements;
	}

	private knownOf(write: WriteSql): Prepared {
		let known = this.known.get(write);
		if (known === undefined) {
			const { table, manyRows } = write;
			const many = table && manyRows ? this.manyOf(table, manyRows) : null;
			known = { write, one: toPostgres(write.text), many };
			this.known.set(write, known);
		}
		return known;
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

	add(known: Prepared, params: readonly Param[]): void {
		const inserts = known.write.onlyInserts;
		if (!inserts || this.open.some((run) => !run.known.write.onlyInserts)) this.keepOnly(known);
		const key = keyOf(known, params);
		let run = this.open.find((one) => one.known === known);
		const full = run !== undefined && (run.rows.length >= ROWS_PER_STATEMENT || known.many === null);
		if (run === undefined || full || (key !== null && run.keys?.has(key))) {
			if (run !== undefined) this.close(run);
			run = { known, rows: [], keys: key === null ? null : new Set() };
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

	private keepOnly(known: Prepared): void {
		for (const run of [...this.open]) if (run.known !== known) this.close(run);
	}

	private close(run: Run): void {
		this.closed.push(run);
		this.open.splice(this.open.indexOf(run), 1);
	}
}

const keyOf = ({ many }: Prepared, params: readonly Param[]): string | null =>
	many === null || many.key.length === 0 ? null : many.key.map((place) => params[place]).join('\n');

function statementOf({ known, rows }: Run): Statement {
	const [first] = rows;
	if (known.many === null || (rows.length === 1 && first !== undefined))
		return { sql: known.one, params: first ?? [] };
	const arrays = Array.from({ length: known.many.params }, (_, place) =>
		arrayOf(rows.map((row) => row[place] as Param)),
	);
	return { sql: known.many.text, params: arrays };
}
