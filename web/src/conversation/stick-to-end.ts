import { type RefObject, useEffect, useMemo, useRef } from 'react';

/**
 * Decides whether a list stays at its end when rows are added: it does at first, until the user scrolls up, and again when the user
 * reaches the end. While rows are added and measured, the list moves by itself; then only a gesture that scrolls up counts.
 */

export interface StickToEnd {
	isOn(): boolean;
	start(): void;
	/** Call before the page scrolls the list up. */
	stop(): void;
	/** Call after rows were added or resized. */
	moved(): void;
	/** Call when the list scrolls, whether the user or the page scrolls it. */
	scrolled(): void;
}

export const END_PX = 8;
const TOLERANCE_PX = 1;
/** Measuring takes a few frames. */
const SETTLES_MS = 300;
/** Scrolling continues for a moment after the wheel or finger stops. */
const GESTURE_MS = 1_000;
const GESTURES = ['wheel', 'touchmove', 'keydown', 'pointerdown', 'pointermove'] as const;
const KEYS_UP = new Set(['ArrowUp', 'PageUp', 'Home']);

/** Whether the gesture may scroll up. Other gestures do not leave the end. */
function scrollsUp(event: Event, list: HTMLElement): boolean {
	switch (event.type) {
		case 'wheel':
			return (event as WheelEvent).deltaY < 0;
		case 'keydown': {
			const { key, shiftKey } = event as KeyboardEvent;
			return KEYS_UP.has(key) || (key === ' ' && shiftKey);
		}
		case 'touchmove':
			return true;
		default:
			// A pointer scrolls the list only by dragging its scroll bar.
			return event.target === list && (event as PointerEvent).buttons !== 0;
	}
}

export const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean =>
	scrollTop + clientHeight >= scrollHeight - END_PX;

export function useStickToEnd(scroller: RefObject<HTMLElement | null>): StickToEnd {
	const isOn = useRef(true);
	/** A scroll up has begun, but the list is still at its end. */
	const isLeaving = useRef(false);
	const lastTop = useRef(0);
	const movedAt = useRef(Number.NEGATIVE_INFINITY);
	const gestureAt = useRef(Number.NEGATIVE_INFINITY);
	useEffect(() => {
		const element = scroller.current;
		if (!element) return;
		const note = (event: Event): void => {
			if (scrollsUp(event, element)) gestureAt.current = performance.now();
		};
		for (const type of GESTURES) element.addEventListener(type, note, { passive: true });
		return () => {
			for (const type of GESTURES) element.removeEventListener(type, note);
		};
	}, [scroller]);
	return useMemo(() => {
		const set = (sticks: boolean): void => {
			isOn.current = sticks;
			isLeaving.current = !sticks;
		};
		const followScroll = (): void => {
			const element = scroller.current;
			if (!element) return;
			const isUp = element.scrollTop < lastTop.current - TOLERANCE_PX;
			lastTop.current = element.scrollTop;
			if (isAtEnd(element)) {
				if (!isLeaving.current) isOn.current = true;
				return;
			}
			isLeaving.current = false;
			const now = performance.now();
			const isByUser = now - gestureAt.current < GESTURE_MS || now - movedAt.current > SETTLES_MS;
			if (isUp && isByUser) isOn.current = false;
		};
		return {
			// The scroll event arrives with the next frame, but rows may be added before that: look at the position now.
			isOn: () => {
				followScroll();
				return isOn.current;
			},
			start: () => set(true),
			stop: () => set(false),
			moved: () => {
				movedAt.current = performance.now();
			},
			scrolled: followScroll,
		};
	}, [scroller]);
}
