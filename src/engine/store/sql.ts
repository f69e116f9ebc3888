/**
 * What the shared SQL asks of a database. Texts are written for SQLite and PostgreSQL at once, with `$1`
 * placeholders; the few words that the two spell differently are translated by dialect.ts.
 */

/** Booleans are 0 and 1; lists are JSON texts. */
export type Param = string | number | null;

export interface Statement {
	readonly sql: string;
	readonly params: readonly Param[];
}

export type Row = Readonly<Record<string, Param>>;

export interface SqlReader {
	/** Integers of any column come back as JS numbers. */
	all<T>(sql: string, params: readonly Param[]): Promise<T[]>;
	/** The rows of each query, all of them seen at one and the same moment. */
	together(queries: readonly Statement[]): Promise<Row[][]>;
	/** Lets others run between two parts of a long read. */
	pause(): Promise<void>;
	/** The same, for parts of long jobs: where reads queue, short ones go first. Absent where it makes no difference. */
	readonly patient?: SqlReader;
}

export const patiently = (reader: SqlReader): SqlReader => reader.patient ?? reader;

export const flag = (value: boolean): number => (value ? 1 : 0);
export const list = (values: readonly (string | number)[]): string => JSON.stringify(values);

const IDS_PER_QUERY = 4000;
/** Rows that one step of a long read takes: a millisecond or two of everybody else's waiting. */
export const ROWS_A_STEP = 1000;

/** Reads any number of rows in steps, others having their turns in between: `read` goes on after a row, or begins. */
export async function inSteps<T>(
	reader: SqlReader,
	most: number,
	read: (last: T | undefined, limit: number) => Promise<readonly T[]>,
): Promise<T[]> {
	const found: T[] = [];
	while (found.length < most) {
		const limit = Math.min(ROWS_A_STEP, most - found.length);
		const rows = await read(found.at(-1), limit);
		for (const row of rows) found.push(row);
		if (rows.length < limit) break;
		await reader.pause();
	}
	return found;
}

/** Asks for any number of ids, some thousand at a time. */
export async function inChunks<K, T>(
	reader: SqlReader,
	keys: readonly K[],
	ask: (chunk: readonly K[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
	if (keys.length === 0) return [];
	if (keys.length <= IDS_PER_QUERY) return ask(keys);
	const found: T[] = [];
	for (let start = 0; start < keys.length; start += IDS_PER_QUERY) {
		if (start > 0) await reader.pause();
		for (const item of await ask(keys.slice(start, start + IDS_PER_QUERY))) found.push(item);
	}
	return found;
}
