import type { Message } from '@tidemark/client';
import {
	type KeyboardEvent,
	type ReactNode,
	type Ref,
	useEffect,
	useImperativeHandle,
	useLayoutEffect,
	useRef,
} from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { askToEdit } from '../message/editing.ts';
import { MessageRow } from '../message/MessageRow.tsx';
import { dayName } from '../ui/format.ts';
import type { TimelineRow } from './rows.ts';
import { isAtEnd, useStickToEnd } from './stick-to-end.ts';
import { useKeptRow } from './useKeptRow.ts';
import { useRowFocus } from './useRowFocus.ts';
import {
	isRowInView,
	isShownAtEnd,
	NEAR_PX,
	type ScrolledList,
	scrollToRow,
	type VisibleRows,
	visibleRows,
} from './visible-rows.ts';

/**
 * The scrolling list of messages: only visible rows are in the page. A list at its end stays there when messages are added. Older
 * messages that are loaded above do not move the visible ones.
 */

export interface TimelineHandle {
	scrollToEnd(): void;
	/** Returns false if no row has this message. */
	scrollTo(ts: string): boolean;
	focusLast(): void;
	/** Focuses the message that Tab reaches. */
	focusCurrent(): void;
	/** Opens the message for editing. */
	edit(ts: string): void;
}

interface Props {
	readonly ref: Ref<TimelineHandle>;
	readonly label: string;
	readonly rows: readonly TimelineRow[];
	/** Above the first row. */
	readonly top: ReactNode;
	/** Below the first row. */
	readonly below?: ReactNode;
	readonly isInThread?: boolean;
	readonly highlighted?: string | null;
	readonly onVisibleRows: (visible: VisibleRows) => void;
	readonly onNearStart?: () => void;
	readonly onNearEnd?: () => void;
	/** Called for keys that do not move the focus. */
	readonly onKey?: (event: KeyboardEvent, message: Message) => void;
}

export function Timeline(props: Props) {
	const { ref, label, rows, top, below = null, isInThread = false, highlighted = null } = props;
	const list = useRef<VirtualizerHandle>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const stick = useStickToEnd(scroller);
	const kept = useKeptRow();
	const isShifted = useIsShifted(rows);
	const { tabStop, focusLast, focusCurrent, onKeyDown } = useRowFocus(rows, list, scroller, props.onKey);

	const current = (): ScrolledList | null =>
		list.current && scroller.current ? { list: list.current, scroller: scroller.current } : null;
	const indexOf = (ts: string): number => rows.findIndex(({ message }) => message.ts === ts);
	const scrollToEnd = () => list.current?.scrollToIndex(rows.length - 1, { align: 'end' });
	const indexOfKept = (): number => (kept.current === null ? -1 : latest.current.indexOf(kept.current));
	const keepInView = (index: number) => {
		// Measuring rows can make the list so short that it reaches its end, and then it would stay there.
		stick.stop();
		const now = current();
		if (now && !isRowInView(now, index)) scrollToRow(current, indexOfKept);
	};
	const keepInPlace = () => {
		const index = indexOfKept();
		if (index >= 0) keepInView(index);
		else if (stick.isOn()) scrollToEnd();
		stick.moved();
	};
	const report = () => {
		const now = current();
		if (!now || rows.length === 0) return;
		props.onVisibleRows(visibleRows(now, rows));
		const { scrollTop, clientHeight, scrollHeight } = now.scroller;
		if (scrollTop < NEAR_PX) props.onNearStart?.();
		if (scrollTop + clientHeight > scrollHeight - NEAR_PX) props.onNearEnd?.();
	};
	const latest = useRef({ report, indexOf });
	useLayoutEffect(() => {
		latest.current = { report, indexOf };
	});

	useImperativeHandle(ref, () => ({
		scrollToEnd: () => {
			kept.current = null;
			stick.start();
			scrollToEnd();
		},
		scrollTo: (ts) => {
			const index = indexOf(ts);
			if (index < 0) return false;
			const now = current();
			if (now && isShownAtEnd(now, index)) return true;
			kept.current = ts;
			stick.stop();
			scrollToRow(current, indexOfKept);
			return true;
		},
		focusLast,
		focusCurrent,
		edit: (ts) => {
			const index = indexOf(ts);
			if (index < 0) return;
			list.current?.scrollToIndex(index, { align: 'nearest' });
			requestAnimationFrame(() =>
				askToEdit(scroller.current?.querySelector(`[data-ts="${CSS.escape(ts)}"]`)),
			);
		},
	}));

	// biome-ignore lint/correctness/useExhaustiveDependencies: runs only when the rows change
	useLayoutEffect(keepInPlace, [rows]);
	// After rendering, when sizes are known.
	// biome-ignore lint/correctness/useExhaustiveDependencies: as above
	useEffect(() => {
		const frame = requestAnimationFrame(() => {
			// Rows that were added while the list scrolled to its end leave it short of the end.
			const element = scroller.current;
			const index = indexOfKept();
			if (index >= 0) keepInView(index);
			else if (element && stick.isOn() && !isAtEnd(element)) scrollToEnd();
			latest.current.report();
		});
		return () => cancelAnimationFrame(frame);
	}, [rows]);

	return (
		<section className="timeline" ref={scroller} aria-label={label} onKeyDown={onKeyDown}>
			{!isInThread && <div className="timeline-fill" />}
			<Virtualizer
				ref={list}
				scrollRef={scroller}
				data={rows}
				shift={isShifted}
				bufferSize={400}
				onScroll={() => {
					stick.scrolled();
					report();
				}}
				onResize={() => {
					keepInPlace();
					// Other rows are visible now, without scrolling.
					requestAnimationFrame(() => latest.current.report());
				}}
			>
				{(row, index) => (
					<div key={row.key} className="timeline-row">
						{index === 0 && top}
						<RowHeadings row={row} />
						<MessageRow
							message={row.message}
							isContinued={row.isContinued}
							isInThread={isInThread}
							isHighlighted={highlighted === row.message.ts}
							isTabStop={row.key === tabStop}
							showsThread={!isInThread}
						/>
						{index === 0 && below}
					</div>
				)}
			</Virtualizer>
		</section>
	);
}

/** The day above its first message, and the divider above the first new one. */
const RowHeadings = ({ row }: { readonly row: TimelineRow }) => (
	<>
		{row.startsDay && (
			<h2 className="day">
				<span>{dayName(row.message.ts)}</span>
			</h2>
		)}
		{row.startsNew && (
			<p className="new-divider">
				<span>New messages</span>
			</p>
		)}
	</>
);

/** Whether this render added rows above the known ones, and nowhere else. */
function useIsShifted(rows: readonly TimelineRow[]): boolean {
	const before = useRef(rows);
	const [previous, current] = [before.current, rows];
	useLayoutEffect(() => {
		before.current = rows;
	});
	const first = previous[0]?.key;
	if (first === undefined || first === current[0]?.key) return false;
	const added = current.length - previous.length;
	return added > 0 && current[added]?.key === first;
}
