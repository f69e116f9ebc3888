import type { SQL } from 'bun';
import { toPostgres } from '../../store/dialect.ts';
import type { Param, Statement } from '../../store/sql.ts';
import { type ManyRows, type Shape, shapeOf } from './shape.ts';
import { arrayOf } from './values.ts';

/**
 * Turns a batch into few statements: a thousand posts are one insert of a thousand rows.
 *
 * Statements about different tables do not see each other's rows (there are no foreign keys and no triggers), so
 * each table's are put together, in their order. One that is about several tables stays where it is, and nothing
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

/** A statement's text, and what is known of it. */
interface Known {
	readonly one: string;
	/** Null: one row at a time. */
	readonly many: { readonly text: string; readonly key: readonly number[]; readonly params: number } | null;
	readonly shape: Shape | null;
}

interface Run {
	readonly known: Known;
	readonly rows: (readonly Param[])[];
	readonly keys: Set<string> | null;
}

export class Planner {
	private readonly known = new Map<string, Known>();

	constructor(private readonly types: ColumnTypes) {}

	/** Empty texts were overtaken by later ones. */
	plan(batch: {
		readonly texts: readonly string[];
		readonly params: readonly (readonly Param[])[];
	}): Statement[] {
		const statements: Statement[] = [];
		const tables = new Map<string, Table>();
		const finish = () => {
			for (const table of tables.values()) statements.push(...table.finish());
		};
		for (const [index, text] of batch.texts.entries()) {
			if (text === '') continue;
			const known = this.knownOf(text);
			const params = batch.params[index] as readonly Param[];
			if (known.shape === null) {
				finish();
				statements.push({ sql: known.one, params });
				continue;
			}
			let table = tables.get(known.shape.table);
			if (table === undefined) {
				table = new Table();
				tables.set(known.shape.table, table);
			}
			table.add(known, params);
		}
		finish();
		return statements;
	}

	private knownOf(text: string): Known {
		let known = this.known.get(text);
		if (known === undefined) {
			const shape = shapeOf(text);
			const many = shape?.manyRows ? this.manyOf(shape.table, shape.manyRows) : null;
			known = { one: toPostgres(text), many, shape };
			this.known.set(text, known);
		}
		return known;
	}

	private manyOf(table: string, { columns, key, text }: ManyRows): Known['many'] {
		const types = columns.map((column) => this.types.get(`${table}.${column}`));
		if (types.includes(undefined)) return null;
		const arrays = types.map((type, index) => `$${index + 1}::text::${type}[]`).join(', ');
		const names = types.map((_, index) => `p${index + 1}`).join(', ');
		return { text: text(`unnest(${arrays}) AS r(${names})`), key, params: columns.length };
	}
}

/** The statements about one table, in runs of the same text. */
class Table {
	private readonly closed: Run[] = [];
	/** More than one only where the order among them does not matter. */
	private open: Run[] = [];

	add(known: Known, params: readonly Param[]): void {
		const inserts = known.shape?.onlyInserts ?? false;
		if (!inserts || this.open.some((run) => !run.known.shape?.onlyInserts)) this.keepOnly(known);
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

	private keepOnly(known: Known): void {
		for (const run of [...this.open]) if (run.known !== known) this.close(run);
	}

	private close(run: Run): void {
		this.closed.push(run);
		this.open.splice(this.open.indexOf(run), 1);
	}
}

const keyOf = ({ many }: Known, params: readonly Param[]): string | null =>
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
