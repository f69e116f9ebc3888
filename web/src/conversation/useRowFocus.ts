import type { Message } from '@tidemark/client';
import { type KeyboardEvent, type RefObject, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { TimelineRow } from './rows.ts';

/** Keyboard focus in the list: Tab reaches one row, arrow keys, Home and End move to the others. */

export interface RowFocus {
	/** The key of the row that Tab reaches: the one focused last, at first the newest. */
	readonly tabStop: string | undefined;
	focusLast(): void;
	focusCurrent(): void;
	onKeyDown(event: KeyboardEvent<HTMLElement>): void;
}

export function useRowFocus(
	rows: readonly TimelineRow[],
	list: RefObject<VirtualizerHandle | null>,
	scroller: RefObject<HTMLElement | null>,
	onKey: ((event: KeyboardEvent, message: Message) => void) | undefined,
): RowFocus {
	const [lastFocused, setLastFocused] = useState<string | null>(null);
	const isListed = lastFocused !== null && rows.some(({ key }) => key === lastFocused);
	const tabStop = isListed ? lastFocused : rows.at(-1)?.key;

	const focusRow = (index: number) => {
		const row = rows[index];
		if (!row) return;
		setLastFocused(row.key);
		list.current?.scrollToIndex(index, { align: 'nearest' });
		requestAnimationFrame(() =>
			scroller.current
				?.querySelector<HTMLElement>(`[data-ts="${CSS.escape(row.message.ts)}"]`)
				?.focus({ preventScroll: true }),
		);
	};
	const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
		const target = event.target as HTMLElement;
		if (event.altKey || !target.matches('article')) return;
		const at = rows.findIndex(({ message }) => message.ts === target.dataset.ts);
		const next = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 }[event.key];
		const row = rows[at];
		if (next === undefined) {
			if (row) onKey?.(event, row.message);
			return;
		}
		event.preventDefault();
		focusRow(next);
	};
	return {
		tabStop,
		focusLast: () => focusRow(rows.length - 1),
		focusCurrent: () => focusRow(rows.findIndex(({ key }) => key === tabStop)),
		onKeyDown,
	};
}
