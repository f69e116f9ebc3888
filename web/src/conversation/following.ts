import { type RefObject, useEffect, useMemo, useRef } from 'react';

/**
 * Whether a list stays at its end when more comes. It does from the start, and again when its user reaches the end. Only the
 * user ends it, by scrolling up: a list that grows, or is scrolled by the page, is not at its end for a moment either.
 */

export interface Following {
	isOn(): boolean;
	start(): void;
	stop(): void;
	/** The list was scrolled, by whomever. */
	scrolled(): void;
}

export const END_PX = 8;
/** Scrolling goes on for a moment after the wheel or the finger that began it. */
const GESTURE_MS = 1_000;

const GESTURES = ['wheel', 'touchmove', 'keydown', 'pointerdown', 'pointermove'] as const;

export const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean =>
	scrollTop + clientHeight >= scrollHeight - END_PX;

export function useFollowing(scroller: RefObject<HTMLElement | null>): Following {
	const isOn = useRef(true);
	const gestureAt = useRef(Number.NEGATIVE_INFINITY);
	const lastTop = useRef(0);
	useEffect(() => {
		const element = scroller.current;
		if (!element) return;
		const note = (event: Event): void => {
			// A pointer that moves without a button pressed scrolls nothing; one that drags the bar does.
			if (event.type === 'pointermove' && (event as PointerEvent).buttons === 0) return;
			gestureAt.current = performance.now();
		};
		const options = { passive: true };
		for (const type of GESTURES) element.addEventListener(type, note, options);
		return () => {
			for (const type of GESTURES) element.removeEventListener(type, note);
		};
	}, [scroller]);
	return useMemo(
		() => ({
			isOn: () => isOn.current,
			start: () => {
				isOn.current = true;
			},
			stop: () => {
				isOn.current = false;
			},
			scrolled: () => {
				const element = scroller.current;
				if (!element) return;
				const isUp = element.scrollTop < lastTop.current;
				lastTop.current = element.scrollTop;
				if (isAtEnd(element)) isOn.current = true;
				else if (isUp && performance.now() - gestureAt.current < GESTURE_MS) isOn.current = false;
			},
		}),
		[scroller],
	);
}
