/**
 * What something is true at. On the wire an opaque string of fixed width; of the same thing, a later one
 * sorts after an earlier one.
 *
 * A stream's position is the stamp of the newest change in it. A row's has two parts, the stamps of the
 * conversation and of the user's read state: each only rises, so the pair sorts as the row changes.
 */

const WIDTH = 16;
const POSITION = /^\d{16}(\d{16})?$/;

export const formatPosition = (stamp: number): string => String(stamp).padStart(WIDTH, '0');

export const formatRowPosition = (row: { readonly conversation: number; readonly user: number }): string =>
	formatPosition(row.conversation) + formatPosition(row.user);

/**
 * What totals over several conversations are true at: the user's stamp, then the newest of the conversations'. Totals are older
 * where one part is and the other is not newer. Leaving a conversation may lower the second part, and raises the first; a lost
 * Redis that is restored may lower the first.
 */
export const formatTotalsVersion = (totals: {
	readonly user: number;
	readonly conversations: number;
}): string => formatPosition(totals.user) + formatPosition(totals.conversations);

/** Where in the stream a position is. A row's is as far as the later of its two parts. */
export function parsePosition(text: string): number | undefined {
	if (!POSITION.test(text)) return undefined;
	return Math.max(Number(text.slice(0, WIDTH)), Number(text.slice(WIDTH)));
}
