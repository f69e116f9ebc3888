import type { VirtualizerHandle } from 'virtua';
import { isInView, isReadable } from './readable.ts';
import type { TimelineRow } from './rows.ts';
import { END_PX, isAtEnd } from './stick-to-end.ts';

/** Which rows of the list are visible, and scrolling to a row until it is visible. */

export interface VisibleRows {
	/** Indexes of the first and the last visible row. */
	readonly first: number;
	readonly last: number;
	readonly isAtEnd: boolean;
	/** Messages that are visible enough to be read, by ts. */
	readonly onScreen: readonly string[];
}

/** The list and the element that scrolls it. */
export interface ScrolledList {
	readonly list: VirtualizerHandle;
	readonly scroller: HTMLElement;
}

const spanOf = (list: VirtualizerHandle, index: number) => ({
	top: list.getItemOffset(index),
	size: list.getItemSize(index),
});

const viewportOf = ({ scrollTop, clientHeight }: HTMLElement) => ({ from: scrollTop, height: clientHeight });

export function visibleRows({ list, scroller }: ScrolledList, rows: readonly TimelineRow[]): VisibleRows {
	const viewport = viewportOf(scroller);
	const { from, height } = viewport;
	// A short list is aligned to the bottom. The list does not know the space above it, but all rows are visible.
	const isShort = scroller.scrollHeight <= height;
	const first = isShort ? 0 : list.findItemIndex(from + END_PX);
	const last = isShort ? rows.length - 1 : list.findItemIndex(from + height - 1);
	const onScreen: string[] = [];
	// A hidden list has nothing on screen.
	for (let index = first; height > 0 && index <= last; index += 1) {
		const { ts = '' } = rows[index]?.message ?? {};
		if (ts !== '' && (isShort || isReadable(spanOf(list, index), viewport))) onScreen.push(ts);
	}
	return { first, last, isAtEnd: isAtEnd(scroller), onScreen };
}

/** Distance from an end of the list at which more messages are loaded. */
export const NEAR_PX = 600;

/** Whether the list is at its end and shows the row. False before layout: the element may seem to be at its end then. */
export function isShownAtEnd({ list, scroller }: ScrolledList, index: number): boolean {
	const isLaidOut =
		list.viewportSize > 0 && list.scrollOffset + list.viewportSize + NEAR_PX >= list.scrollSize;
	return isLaidOut && isAtEnd(scroller) && list.getItemOffset(index) >= scroller.scrollTop;
}

export const isRowInView = ({ list, scroller }: ScrolledList, index: number): boolean =>
	isInView(spanOf(list, index), viewportOf(scroller));

/** Frames, not milliseconds: a slow machine draws fewer of them. */
const MAX_FRAMES = 300;

/**
 * Rows are measured while the list scrolls, so the list may stop short of the row: then it scrolls again in the next frame.
 * `indexOfRow` returns -1 once the row is no longer wanted. A hidden list has no view: its rows are measured when it is shown, and the
 * caller scrolls again.
 */
export function scrollToRow(
	current: () => ScrolledList | null,
	indexOfRow: () => number,
	frames = MAX_FRAMES,
): void {
	const index = indexOfRow();
	if (index < 0) return;
	current()?.list.scrollToIndex(index, { align: 'center' });
	requestAnimationFrame(() => {
		const now = current();
		const isHidden = !now || now.scroller.clientHeight === 0;
		if (isHidden || frames === 0 || isRowInView(now, Math.max(0, indexOfRow()))) return;
		scrollToRow(current, indexOfRow, frames - 1);
	});
}
