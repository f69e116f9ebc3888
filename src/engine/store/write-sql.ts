import type { Param } from './sql.ts';

/**
 * Declared SQL writes: the text for one row, its table, and how to write the same change for many rows at once. PostgreSQL
 * writes a batch in few statements that way (cluster/postgres/plan.ts); SQLite, which is in
 * this process, runs the text row by row.
 *
 * Parameters are given by number: `{ ts: 2 }` is the second one. Strings are SQL.
 */
export interface WriteSql {
	/** For one row, with `$1` placeholders. */
	readonly text: string;
	/** The only table that it reads or writes. Null: several. */
	readonly table: string | null;
	/** Adds rows and touches no others: such statements can be reordered. */
	readonly onlyInserts: boolean;
	/** Null: one row at a time. */
	readonly manyRows: ManyRows | null;
	/** Replaces or deletes users' content, or the push tokens of their devices. */
	readonly erases: boolean;
}

export interface ManyRows {
	/** The text over `source`, which provides rows `r` with the parameters `r.p1`, `r.p2` and so on. */
	text(source: string): string;
	/** For each parameter, a column that has its type. */
	readonly columns: readonly string[];
	/** Indices, from 0, of the parameters that form the row's key: no two rows of one statement may have the same key. */
	readonly key: readonly number[];
}

export interface BoundWrite {
	readonly write: WriteSql;
	readonly params: readonly Param[];
}

/** Collects the statements of one transaction, in order. */
export interface Writes {
	add(write: WriteSql, params: readonly Param[]): void;
	/**
	 * Adds a write that replaces earlier ones with the same key, such as an update of the same columns of the same row: only the last
	 * is executed, at its own place. No statement before it may depend on the writes that it replaces.
	 */
	set(key: string, write: WriteSql, params: readonly Param[]): void;
}

/** Spells a parameter by number: `$2`, or `r.p2`. */
type Spelling = (parameter: number) => string;
const ofOneRow: Spelling = (parameter) => `$${parameter}`;
const ofManyRows: Spelling = (parameter) => `r.p${parameter}`;

/** A parameter, SQL without one, or SQL around one. */
type Value = number | string | readonly [parameter: number, sql: (parameter: string) => string];
/** Equal to a parameter, SQL that continues the condition, or compared with a parameter. */
type Condition = number | string | readonly [operator: '<' | '<=' | '>' | '>=' | '<>', parameter: number];

type Values = Readonly<Record<string, Value>>;
type Conditions = Readonly<Record<string, Condition>>;

const spelled = (value: Value, spell: Spelling): string => {
	if (typeof value === 'string') return value;
	return typeof value === 'number' ? spell(value) : value[1](spell(value[0]));
};

const spelledCondition = (column: string, condition: Condition, spell: Spelling): string => {
	if (typeof condition === 'string') return `${column} ${condition}`;
	if (typeof condition === 'number') return `${column} = ${spell(condition)}`;
	return `${column} ${condition[0]} ${spell(condition[1])}`;
};

/** What to do if the row exists. */
export interface OnConflict {
	/** Its key. */
	readonly on: readonly string[];
	/** The text after SET. */
	readonly update: string;
}

/** `onConflict`: null if the row cannot exist, `ignore` if an existing row stays. */
export function insertInto(
	table: string,
	values: Values,
	onConflict: OnConflict | 'ignore' | null = null,
): WriteSql {
	const columns = Object.keys(values);
	const head = `INSERT INTO ${table} (${columns.join(', ')})`;
	const row = (spell: Spelling) =>
		Object.values(values)
			.map((value) => spelled(value, spell))
			.join(', ');
	const tail = onConflict === null ? '' : ` ${conflictSql(onConflict)}`;
	const target = onConflict === null || onConflict === 'ignore' ? [] : onConflict.on;
	return {
		text: `${head} VALUES (${row(ofOneRow)})${tail}`,
		table,
		onlyInserts: onConflict === null,
		manyRows: {
			text: (source) => `${head} SELECT ${row(ofManyRows)} FROM ${source}${tail}`,
			columns: columnsOf(Object.entries(values)),
			key: target.map((column) => (values[column] as number) - 1),
		},
		erases: false,
	};
}

const conflictSql = (onConflict: OnConflict | 'ignore'): string =>
	onConflict === 'ignore'
		? 'ON CONFLICT DO NOTHING'
		: `ON CONFLICT (${onConflict.on.join(', ')}) DO UPDATE SET ${onConflict.update}`;

export function update(table: string, values: Values, where: Conditions): WriteSql {
	const set = (spell: Spelling) =>
		Object.entries(values)
			.map(([column, value]) => `${column} = ${spelled(value, spell)}`)
			.join(', ');
	const head = (spell: Spelling) => `UPDATE ${table} SET ${set(spell)}`;
	const key = Object.values(where).filter((condition) => typeof condition === 'number');
	return {
		text: `${head(ofOneRow)} WHERE ${all(where, ofOneRow)}`,
		table,
		onlyInserts: false,
		// Without a key, several rows of the source could match the same row of the table.
		manyRows:
			key.length === 0
				? null
				: {
						text: (source) => `${head(ofManyRows)} FROM ${source} WHERE ${all(where, ofManyRows)}`,
						columns: columnsOf([...Object.entries(where), ...Object.entries(values)]),
						key: key.map((parameter) => parameter - 1),
					},
		erases: false,
	};
}

export function deleteFrom(table: string, where: Conditions): WriteSql {
	const head = `DELETE FROM ${table}`;
	return {
		text: `${head} WHERE ${all(where, ofOneRow)}`,
		table,
		onlyInserts: false,
		manyRows: {
			text: (source) => `${head} USING ${source} WHERE ${all(where, ofManyRows)}`,
			columns: columnsOf(Object.entries(where)),
			key: [],
		},
		erases: false,
	};
}

/** For statements that do not fit the forms above; run once per row. `table` is null for several tables. */
export const statement = (table: string | null, text: string): WriteSql => ({
	text,
	table,
	onlyInserts: false,
	manyRows: null,
	erases: false,
});

export const erasing = (write: WriteSql): WriteSql => ({ ...write, erases: true });

const all = (where: Conditions, spell: Spelling): string =>
	Object.entries(where)
		.map(([column, condition]) => spelledCondition(column, condition, spell))
		.join(' AND ');

function columnsOf(entries: readonly (readonly [string, Value | Condition])[]): string[] {
	const columns: string[] = [];
	for (const [column, value] of entries) {
		if (typeof value === 'string') continue;
		const parameter = typeof value === 'number' ? value : value.find((part) => typeof part === 'number');
		columns[(parameter as number) - 1] ??= column;
	}
	// A gap would be a parameter without a column.
	if (Object.keys(columns).length !== columns.length)
		throw new Error('parameters must be numbered from 1 without gaps');
	return columns;
}
