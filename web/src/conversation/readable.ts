/**
 * Whether a message is visible enough to be read: its last line and at least half of it are on screen, or it fills half of the
 * screen. In pixels of the list.
 */

export interface Span {
	readonly top: number;
	readonly size: number;
}

/** Allows for rounded sizes. */
const TOLERANCE_PX = 2;

export function isReadable(
	{ top, size }: Span,
	{ from, height }: { readonly from: number; readonly height: number },
): boolean {
	const end = top + size;
	const visible = Math.min(end, from + height) - Math.max(top, from);
	const hasLastLine = end <= from + height + TOLERANCE_PX;
	return (hasLastLine && visible >= size / 2) || visible >= height / 2;
}
