import { type RefObject, useEffect, useMemo, useRef } from 'react';

/**
 * Whether a list stays at its end when more comes. It does from the start, and again whenever its end is reached. It no longer does
 * once its user scrolled it up. While rows come and are measured, the list moves by itself: then only a gesture that scrolls up counts.
 */

export interface Following {
	isOn(): boolean;
	start(): void;
	/** The page scrolls it up now. */
	stop(): void;
	/** Rows came, or have another size. */
	moved(): void;
	/** The list was scrolled, by whomever. */
	scrolled(): void;
}

export const END_PX = 8;
const TOLERANCE_PX = 1;
/** Measuring goes on for a few frames. */
const SETTLES_MS = 300;
/** Scrolling goes on for a moment after the wheel or the finger that began it. */
const GESTURE_MS = 1_000;
const GESTURES = ['wheel', 'touchmove', 'keydown', 'pointerdown', 'pointermove'] as const;
const KEYS_UP = new Set(['ArrowUp', 'PageUp', 'Home']);

/** Whether it may scroll the list up: what scrolls down, or moves a pointer, does not leave the end. */
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
			// Only a pointer that drags the list's own bar scrolls it.
			return event.target === list && (event as PointerEvent).buttons !== 0;
	}
}

export const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean =>
	scrollTop + clientHeight >= scrollHeight - END_PX;

export function useFollowing(scroller: RefObject<HTMLElement | null>): Following {
	const isOn = useRef(true);
	/** It is to be scrolled up, and is still at its end. */
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
		const set = (isFollowing: boolean): void => {
			isOn.current = isFollowing;
			isLeaving.current = !isFollowing;
		};
		const notice = (): void => {
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
			const isMeant = now - gestureAt.current < GESTURE_MS || now - movedAt.current > SETTLES_MS;
			if (isUp && isMeant) isOn.current = false;
		};
		return {
			// The event of a scroll comes with the next frame: more rows may come before it.
			isOn: () => {
				notice();
				return isOn.current;
			},
			start: () => set(true),
			stop: () => set(false),
			moved: () => {
				movedAt.current = performance.now();
			},
			scrolled: notice,
		};
	}, [scroller]);
}
