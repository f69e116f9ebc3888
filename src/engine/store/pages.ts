import type { Page } from '../ports/store.ts';
import type { Param, SqlReader } from './sql.ts';

/** Pages in order of id. The query reads one row more than the page holds, to detect whether there is a next page. */

export const NO_PAGE_BEFORE = '';

export async function pageOf<Found extends { readonly id: string }, Item>(
	reader: SqlReader,
	sql: string,
	params: readonly Param[],
	after: string | null,
	limit: number,
	item: (row: Found) => Item,
): Promise<Page<Item>> {
	const rows = await reader.all<Found>(sql, [...params, after ?? NO_PAGE_BEFORE, limit + 1]);
	const shown = rows.slice(0, limit);
	return { items: shown.map(item), next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

/** Finds the single row with this key. */
export const rowFinder =
	(reader: SqlReader) =>
	async <Found, Item>(sql: string, key: string, item: (row: Found) => Item): Promise<Item | null> => {
		const [row] = await reader.all<Found>(sql, [key]);
		return row === undefined ? null : item(row);
	};
