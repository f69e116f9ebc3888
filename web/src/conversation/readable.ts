/** Which part of a row is on screen, and whether that is enough to read it. All numbers are pixels of the list. */

export interface Span {
	readonly top: number;
	readonly size: number;
}

/** The part of the list that is on screen. */
export interface Viewport {
	readonly from: number;
	readonly height: number;
}

/** Allows for rounded sizes. */
const TOLERANCE_PX = 2;

const visiblePixels = ({ top, size }: Span, { from, height }: Viewport): number =>
	Math.min(top + size, from + height) - Math.max(top, from);

export const isInView = (span: Span, viewport: Viewport): boolean => visiblePixels(span, viewport) > 0;

/** A message can be read if its last line and at least half of it are on screen, or if it fills half of the screen. */
export function isReadable(span: Span, viewport: Viewport): boolean {
	const visible = visiblePixels(span, viewport);
	const hasLastLine = span.top + span.size <= viewport.from + viewport.height + TOLERANCE_PX;
	return (hasLastLine && visible >= span.size / 2) || visible >= viewport.height / 2;
}
