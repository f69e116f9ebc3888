import { stampDigits } from './ts.ts';

/**
 * A position says which changes some data includes: all changes up to it. On the wire it is an opaque string of fixed width;
 * for the same data, a later position sorts after an earlier one.
 *
 * The position of a client is one stamp. The position of a row has two parts: the stamp of the conversation and the stamp of the
 * user's read state. Each part only rises, so positions sort in the order of changes. One exception: the user's part can fall when a
 * lost Redis is rebuilt.
 */

const WIDTH = 16;
const POSITION = /^\d{16}(\d{16})?$/;

/**
 * In a cluster, a client resumes this far before its position: an upper bound for the difference between the clocks of synchronised
 * machines.
 */
export const OVERLAP_MICROS = 5_000_000;

export const formatPosition = stampDigits;

export const formatRowPosition = (row: { readonly conversation: number; readonly user: number }): string =>
	formatPosition(row.conversation) + formatPosition(row.user);

/**
 * The version of totals over several conversations: the user's stamp, then the newest stamp among the conversations. Totals are
 * older if one part is smaller and the other is not larger. The second part can fall when the user leaves a conversation, which
 * raises the first; the first can fall when a lost Redis is rebuilt.
 */
export const formatTotalsVersion = (totals: {
	readonly user: number;
	readonly conversations: number;
}): string => formatPosition(totals.user) + formatPosition(totals.conversations);

/** The stamp in a position; for the position of a row, the later of its two stamps. */
export function parsePosition(text: string): number | undefined {
	if (!POSITION.test(text)) return undefined;
	return Math.max(Number(text.slice(0, WIDTH)), Number(text.slice(WIDTH)));
}
