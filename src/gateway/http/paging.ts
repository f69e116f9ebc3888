import type { Page } from '../../engine/ports/store.ts';

/**
 * Page cursors: opaque to clients, base64 of where the next page starts. Pages of messages continue from a ts and
 * pages of ids from an id, so new items do not disturb them.
 */

export type CursorKind = 'next_ts' | 'after';

export const encodeCursor = (kind: CursorKind, value: string | number): string =>
	Buffer.from(`${kind}:${value}`).toString('base64');

const TS = /^\d{1,16}$/;
const MAX_LENGTH = 400;

/** Undefined if the text is not a cursor of this kind. */
export function decodeCursor(kind: CursorKind, text: string): string | undefined {
	if (text.length > MAX_LENGTH) return undefined;
	const decoded = Buffer.from(text, 'base64').toString('utf8');
	if (!decoded.startsWith(`${kind}:`) || encodedOf(decoded) !== text.replace(/=+$/, '')) return undefined;
	const value = decoded.slice(kind.length + 1);
	if (value === '' || (kind === 'next_ts' && !TS.test(value))) return undefined;
	return value;
}

const encodedOf = (decoded: string): string => Buffer.from(decoded).toString('base64').replace(/=+$/, '');

/** The end of a listing is an empty text: with `null`, Slack's clients request pages for ever. */
export const nextCursor = (kind: CursorKind, next: string | number | null) => ({
	response_metadata: { next_cursor: next === null ? '' : encodeCursor(kind, next) },
});

/** Inserts an item that the store does not have into its page, in the order of ids, and keeps the page within its limit. */
export function withUnstored<T extends { readonly id: string }>(
	item: T,
	page: Page<T>,
	after: string | null,
	limit: number,
): Page<T> {
	const { items, next } = page;
	const isHere = (after ?? '') < item.id && (next === null || item.id < next);
	if (!isHere) return page;
	const before = items.filter(({ id }) => id < item.id);
	const all = [...before, item, ...items.slice(before.length)];
	const shown = all.slice(0, limit);
	return { items: shown, next: all.length > limit || next !== null ? (shown.at(-1)?.id ?? null) : null };
}
