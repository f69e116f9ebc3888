/**
 * What the shared SQL needs from a database. SQL is written for SQLite and PostgreSQL at once, with `$1`
 * placeholders; dialect.ts translates the few words that differ.
 */

/** Booleans are 0 and 1; lists are JSON. */
export type Param = string | number | null;

export interface Statement {
	readonly sql: string;
	readonly params: readonly Param[];
}

export type Row = Readonly<Record<string, Param>>;

export interface SqlReader {
	/** Integers of any column are returned as numbers. */
	all<T>(sql: string, params: readonly Param[]): Promise<T[]>;
	/** The rows of all queries, read in one snapshot. */
	together(queries: readonly Statement[]): Promise<Row[][]>;
	/** Yields to other reads between two parts of a long read. */
	pause(): Promise<void>;
	/** A reader for long jobs: short reads in the queue go first. Absent where it makes no difference. */
	readonly lowPriority?: SqlReader;
}

export const withLowPriority = (reader: SqlReader): SqlReader => reader.lowPriority ?? reader;

export const flag = (value: boolean): number => (value ? 1 : 0);
export const list = (values: readonly (string | number)[]): string => JSON.stringify(values);

/** Parameters whose type PostgreSQL cannot derive from the statement. */
export const textParam = (number: number): string => `CAST($${number} AS TEXT)`;
export const integerParam = (number: number): string => `CAST($${number} AS BIGINT)`;

const IDS_PER_QUERY = 4000;
/** Rows per step of a long read: one step delays other reads by a millisecond or two. */
export const ROWS_PER_STEP = 1000;

/** Reads up to `most` rows in steps and yields in between. `read` continues after the row `last`; undefined: from the beginning. */
export async function inSteps<T>(
	reader: SqlReader,
	most: number,
	read: (last: T | undefined, limit: number) => Promise<readonly T[]>,
): Promise<T[]> {
	const found: T[] = [];
	while (found.length < most) {
		const limit = Math.min(ROWS_PER_STEP, most - found.length);
		const rows = await read(found.at(-1), limit);
		for (const row of rows) found.push(row);
		if (rows.length < limit) break;
		await reader.pause();
	}
	return found;
}

/** Reads any number of ids, a few thousand at a time. */
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
