/**
 * Cursors: opaque to clients, base64 of what comes next. Pages of messages go on from a ts and pages of
 * ids from an id, so that neither is disturbed by what arrives in between.
 */

export type CursorKind = 'next_ts' | 'after';

export const encodeCursor = (kind: CursorKind, value: string | number): string =>
	Buffer.from(`${kind}:${value}`).toString('base64');

const TS = /^\d{1,16}$/;
const MAX_LENGTH = 400;

/** Undefined for anything that this kind of method did not hand out. */
export function decodeCursor(kind: CursorKind, text: string): string | undefined {
	if (text.length > MAX_LENGTH) return undefined;
	const decoded = Buffer.from(text, 'base64').toString('utf8');
	if (!decoded.startsWith(`${kind}:`) || encodedOf(decoded) !== text.replace(/=+$/, '')) return undefined;
	const value = decoded.slice(kind.length + 1);
	if (value === '' || (kind === 'next_ts' && !TS.test(value))) return undefined;
	return value;
}

const encodedOf = (decoded: string): string => Buffer.from(decoded).toString('base64').replace(/=+$/, '');

/** The end of a listing is an empty text: `null` makes Slack's clients ask for ever. */
export const nextCursor = (kind: CursorKind, next: string | number | null) => ({
	response_metadata: { next_cursor: next === null ? '' : encodeCursor(kind, next) },
});
