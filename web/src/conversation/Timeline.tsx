import type { Message } from '@tidemark/client';
import {
	type KeyboardEvent,
	type ReactNode,
	type Ref,
	useEffect,
	useImperativeHandle,
	useLayoutEffect,
	useRef,
	useState,
} from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { askToEdit } from '../message/editing.ts';
import { MessageRow } from '../message/MessageRow.tsx';
import { dayName } from '../ui/format.ts';
import { END_PX, isAtEnd, useFollowing } from './following.ts';
import { isReadable } from './readable.ts';
import type { TimelineRow } from './rows.ts';

/**
 * The scrolling list of messages: only visible rows are in the page. At its end, it stays there when a message is added; older
 * messages that are loaded above do not move the visible ones.
 */

export interface Sight {
	/** Visible rows, by index. */
	readonly first: number;
	readonly last: number;
	readonly isAtEnd: boolean;
	/** Messages that are visible enough to be read, by ts. */
	readonly onScreen: readonly string[];
}

export interface TimelineHandle {
	scrollToEnd(): void;
	/** Returns false if it is not among the rows. */
	scrollTo(ts: string): boolean;
	focusLast(): void;
	/** Focuses the message from which the arrow keys move, not a button. */
	focusCurrent(): void;
	/** Opens the message to be edited. */
	edit(ts: string): void;
}

interface Props {
	readonly ref: Ref<TimelineHandle>;
	readonly label: string;
	readonly rows: readonly TimelineRow[];
	readonly top: ReactNode;
	/** Under the first row. */
	readonly below?: ReactNode;
	readonly isInThread?: boolean;
	readonly highlighted?: string | null;
	readonly onSight: (sight: Sight) => void;
	readonly onNearStart?: () => void;
	readonly onNearEnd?: () => void;
	readonly onKey?: (event: KeyboardEvent, message: Message) => void;
}

const NEAR_PX = 600;

/** A list that is laid out while it scrolls may end elsewhere: so often the row is scrolled to again. */
const MAX_SCROLL_ATTEMPTS = 5;

function isInView(handle: VirtualizerHandle | null, element: HTMLElement | null, index: number): boolean {
	if (!handle || !element) return true;
	const top = handle.getItemOffset(index);
	return (
		top + handle.getItemSize(index) > element.scrollTop && top < element.scrollTop + element.clientHeight
	);
}

export function Timeline(props: Props) {
	const {
		ref,
		label,
		rows,
		top,
		below = null,
		isInThread = false,
		highlighted = null,
		onSight,
		onNearStart,
		onNearEnd,
		onKey,
	} = props;
	const list = useRef<VirtualizerHandle>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const following = useFollowing(scroller);
	const [tabStop, setTabStop] = useState<string | null>(null);
	const isShifted = useIsShifted(rows);

	const look = () => {
		const [handle, element] = [list.current, scroller.current];
		if (!handle || !element || rows.length === 0) return;
		const { scrollTop: from, clientHeight: height, scrollHeight } = element;
		// A short list is aligned to the bottom, below space that it does not account for: all rows are visible.
		const isShort = scrollHeight <= height;
		const first = isShort ? 0 : handle.findItemIndex(from + END_PX);
		const last = isShort ? rows.length - 1 : handle.findItemIndex(from + height - 1);
		const view = { from, height };
		const onScreen: string[] = [];
		// A hidden list has nothing on screen.
		for (let index = first; height > 0 && index <= last; index += 1) {
			const [top, size] = [handle.getItemOffset(index), handle.getItemSize(index)];
			const { ts = '' } = rows[index]?.message ?? {};
			if (ts !== '' && (isShort || isReadable({ top, size }, view))) onScreen.push(ts);
		}
		onSight({ first, last, isAtEnd: isAtEnd(element), onScreen });
		if (from < NEAR_PX) onNearStart?.();
		if (from + height > scrollHeight - NEAR_PX) onNearEnd?.();
	};
	const lookNow = useRef(look);
	useLayoutEffect(() => {
		lookNow.current = look;
	});

	const scrollToEnd = () => list.current?.scrollToIndex(rows.length - 1, { align: 'end' });
	useImperativeHandle(ref, () => ({
		scrollToEnd: () => {
			following.start();
			scrollToEnd();
		},
		scrollTo: (ts) => {
			const index = rows.findIndex(({ message }) => message.ts === ts);
			if (index < 0) return false;
			const [handle, element] = [list.current, scroller.current];
			// Do not scroll if the row is already visible at the end. Before layout, the list has no end, although its element does.
			const isLaidOut =
				handle &&
				handle.viewportSize > 0 &&
				handle.scrollOffset + handle.viewportSize + NEAR_PX >= handle.scrollSize;
			const isThere =
				isLaidOut && element && isAtEnd(element) && handle.getItemOffset(index) >= element.scrollTop;
			if (isThere) return true;
			following.stop();
			const bring = (attempts: number): void => {
				list.current?.scrollToIndex(index, { align: 'center' });
				if (attempts > 0)
					requestAnimationFrame(() => {
						if (!isInView(list.current, scroller.current, index)) bring(attempts - 1);
					});
			};
			bring(MAX_SCROLL_ATTEMPTS);
			return true;
		},
		focusLast: () => focusRow(rows.length - 1),
		focusCurrent: () => focusRow(rows.findIndex(({ key }) => key === reachable)),
		edit: (ts) => {
			const index = rows.findIndex(({ message }) => message.ts === ts);
			if (index < 0) return;
			list.current?.scrollToIndex(index, { align: 'nearest' });
			requestAnimationFrame(() =>
				askToEdit(scroller.current?.querySelector(`[data-ts="${CSS.escape(ts)}"]`)),
			);
		},
	}));

	// biome-ignore lint/correctness/useExhaustiveDependencies: runs only when the rows change
	useLayoutEffect(() => {
		if (following.isOn()) scrollToEnd();
		following.moved();
	}, [rows]);
	// After rendering, when sizes are known.
	// biome-ignore lint/correctness/useExhaustiveDependencies: as above
	useEffect(() => {
		const frame = requestAnimationFrame(() => {
			// Rows that were added while the list scrolled to its end leave it short of the end.
			const element = scroller.current;
			if (element && following.isOn() && !isAtEnd(element)) scrollToEnd();
			lookNow.current();
		});
		return () => cancelAnimationFrame(frame);
	}, [rows]);

	const focusRow = (index: number) => {
		const row = rows[index];
		if (!row) return;
		setTabStop(row.key);
		list.current?.scrollToIndex(index, { align: 'nearest' });
		requestAnimationFrame(() =>
			scroller.current
				?.querySelector<HTMLElement>(`[data-ts="${CSS.escape(row.message.ts)}"]`)
				?.focus({ preventScroll: true }),
		);
	};
	const walk = (event: KeyboardEvent<HTMLElement>) => {
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

	const reachable = tabStop !== null && rows.some(({ key }) => key === tabStop) ? tabStop : rows.at(-1)?.key;
	return (
		<section className="timeline" ref={scroller} aria-label={label} onKeyDown={walk}>
			{!isInThread && <div className="timeline-fill" />}
			<Virtualizer
				ref={list}
				scrollRef={scroller}
				data={rows}
				shift={isShifted}
				bufferSize={400}
				onScroll={() => {
					following.scrolled();
					look();
				}}
				onResize={() => {
					if (following.isOn()) scrollToEnd();
					following.moved();
					// Other rows are visible now, without scrolling.
					requestAnimationFrame(() => lookNow.current());
				}}
			>
				{(row, index) => (
					<div key={row.key} className="timeline-row">
						{index === 0 && top}
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
						<MessageRow
							message={row.message}
							isContinued={row.isContinued}
							isInThread={isInThread}
							isHighlighted={highlighted === row.message.ts}
							isTabStop={row.key === reachable}
							showsThread={!isInThread}
						/>
						{index === 0 && below}
					</div>
				)}
			</Virtualizer>
		</section>
	);
}

/** Whether this render added rows above, and nowhere else. */
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
