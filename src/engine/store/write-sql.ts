import type { Param } from './sql.ts';

/**
 * SQL that changes rows, declared: the text for one row, the table it is about, and how the same change is written for
 * many rows at once. PostgreSQL takes a batch in few statements by it (cluster/postgres/plan.ts); SQLite, which is in
 * this process, runs the text row by row.
 *
 * Parameters are given by number: `{ ts: 2 }` is the second one. Strings are SQL.
 */
export interface WriteSql {
	/** For one row, with `$1` placeholders. */
	readonly text: string;
	/** The only table that it reads or writes. Null: there are several. */
	readonly table: string | null;
	/** Adds rows and touches no others: the order among such statements does not matter. */
	readonly onlyInserts: boolean;
	/** Null: one row at a time. */
	readonly manyRows: ManyRows | null;
	/** Replaces or deletes what people wrote, or what reaches their devices. */
	readonly erases: boolean;
}

export interface ManyRows {
	/** The text over `source`, which gives a row `r` with the parameters as `r.p1`, `r.p2` and so on. */
	text(source: string): string;
	/** The column that says which type each parameter has. */
	readonly columns: readonly string[];
	/** Places of the parameters that name the row: no two rows of one statement may have the same. */
	readonly key: readonly number[];
}

export interface BoundWrite {
	readonly write: WriteSql;
	readonly params: readonly Param[];
}

/** Where statements of one transaction are collected, in order. */
export interface Writes {
	add(write: WriteSql, params: readonly Param[]): void;
	/**
	 * Sets columns of one row to these values, whatever they were. Of several such writes with the same key
	 * only the last is carried out, in its own place: nothing in between may depend on an earlier one.
	 */
	set(key: string, write: WriteSql, params: readonly Param[]): void;
}

/** Of a parameter by number, how it is spelled: `$2`, or `r.p2`. */
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

/** What becomes of a row that is there already. */
export interface OnConflict {
	/** Its key. */
	readonly on: readonly string[];
	/** What follows SET. */
	readonly update: string;
}

/** `onConflict` is null where a new row never meets another, `ignore` where the other one stays. */
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
		// Without a key, several rows of the source would meet the same row of the table.
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

/** For what the forms above do not have: one statement for each time. `table` is null where it is about several. */
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
	// A hole would be a parameter that no column takes.
	if (Object.keys(columns).length !== columns.length)
		throw new Error('parameters are not numbered from 1 on');
	return columns;
}
