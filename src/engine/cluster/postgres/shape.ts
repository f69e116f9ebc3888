/**
 * What a shared statement does, read from its text: which table it is about, and how it is written for many rows at
 * once. The shared texts keep to few forms, and what is in none of them stays a statement of its own.
 */

export interface Shape {
	/** The only table that it reads or writes. */
	readonly table: string;
	/** Nothing but new rows: the order among such statements does not matter. */
	readonly onlyInserts: boolean;
	readonly manyRows: ManyRows | null;
}

export interface ManyRows {
	/** `r.p1` stands for the first parameter of each row; to be completed with where the rows come from. */
	text(rows: string): string;
	/** The column that says which type each parameter has. */
	readonly columns: readonly string[];
	/** Places of the parameters that name the row: no two rows of one statement may have the same. */
	readonly key: readonly number[];
}

const BEGINNING = /^(INSERT INTO|UPDATE|DELETE FROM) (\w+)/;
/** Items of a list come from no table. */
const LISTS = /\bFROM EACH_(TEXT|INTEGER)\(\$\d+\)/g;

/** Null: it reads or writes more than one table, or is nothing that is known. */
export function shapeOf(sql: string): Shape | null {
	const [beginning, verb, table] = BEGINNING.exec(sql) ?? [];
	if (beginning === undefined || table === undefined) return null;
	const rest = sql.slice(beginning.length).replace(LISTS, '');
	if (/\b(FROM|JOIN|USING)\b/.test(rest)) return null;
	const onlyInserts = verb === 'INSERT INTO' && !/\bON CONFLICT\b/.test(rest);
	const manyRows = /\bSELECT\b/.test(rest) ? null : verb === 'INSERT INTO' ? inserting(sql) : changing(sql);
	return { table, onlyInserts, manyRows };
}

const INSERT = /^INSERT INTO \w+\s*\(([^()]*)\)\s*VALUES \(([^()]*)\)\s*(ON CONFLICT[^$]*)?$/;
const DO_NOTHING = /\bDO NOTHING\b/;

function inserting(sql: string): ManyRows | null {
	const [, columnList, valueList, onConflict = ''] = INSERT.exec(sql) ?? [];
	if (columnList === undefined || valueList === undefined) return null;
	const names = columnList.split(',').map((name) => name.trim());
	const values = valueList.split(',').map((value) => value.trim());
	const columns: string[] = [];
	for (const [place, value] of values.entries()) {
		const number = /^\$(\d+)$/.exec(value)?.[1];
		if (number !== undefined) columns[Number(number) - 1] ??= names[place] as string;
	}
	const target = DO_NOTHING.test(onConflict) ? [] : namesIn(/ON CONFLICT \(([^)]*)\)/.exec(onConflict)?.[1]);
	const key = target.map((name) => columns.indexOf(name));
	if (key.includes(-1)) return null;
	const head = sql.slice(0, sql.indexOf('VALUES'));
	return complete(sql, columns, key, (rows) => `${head}SELECT ${valueList} FROM ${rows} ${onConflict}`);
}

const namesIn = (list: string | undefined): string[] => list?.split(',').map((name) => name.trim()) ?? [];

const CHANGE = /^(UPDATE \w+ SET [^;]*|DELETE FROM \w+)\s+WHERE ([^;]*)$/;
const COMPARED = /(\w+) (=|<|<=|>|>=) \$(\d+)/g;

function changing(sql: string): ManyRows | null {
	const [, head, condition] = CHANGE.exec(sql) ?? [];
	if (head === undefined || condition === undefined || /\bOR\b/.test(condition)) return null;
	const columns: string[] = [];
	for (const [, name, , number] of sql.matchAll(COMPARED)) columns[Number(number) - 1] ??= name as string;
	const equal = [...condition.matchAll(COMPARED)].filter(([, , operator]) => operator === '=');
	const key = equal.map(([, , , number]) => Number(number) - 1);
	const update = head.startsWith('UPDATE');
	// Without a key, rows would meet the same row of the table.
	if (update && key.length === 0) return null;
	const source = update ? 'FROM' : 'USING';
	return complete(sql, columns, update ? key : [], (rows) => `${head} ${source} ${rows} WHERE ${condition}`);
}

/** Every parameter has to have a column. */
function complete(
	sql: string,
	columns: readonly string[],
	key: readonly number[],
	write: (rows: string) => string,
): ManyRows | null {
	const numbers = new Set([...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
	for (const number of numbers) if (columns[number - 1] === undefined) return null;
	if (columns.length === 0 || numbers.size !== columns.length) return null;
	// The place of the rows is filled in last: it has parameters of its own.
	const text = write('THESE_ROWS').replace(/\$(\d+)/g, 'r.p$1');
	return { columns, key, text: (rows) => text.replace('THESE_ROWS', () => rows) };
}
