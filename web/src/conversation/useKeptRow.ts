import { type RefObject, useEffect, useRef } from 'react';

/**
 * The message that the list was scrolled to, by ts; null if there is none. A row is measured when it comes near the screen, which
 * moves the other rows, so on a slow machine the list moves by itself for a while. The list keeps this message in view until the user
 * scrolls, clicks or types.
 */

const GESTURES = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

export function useKeptRow(): RefObject<string | null> {
	const kept = useRef<string | null>(null);
	useEffect(() => {
		const release = (): void => {
			kept.current = null;
		};
		// In the capture phase, so that a button which scrolls to a message sets the ref after this has cleared it.
		const options = { capture: true, passive: true } as const;
		for (const type of GESTURES) window.addEventListener(type, release, options);
		return () => {
			for (const type of GESTURES) window.removeEventListener(type, release, options);
		};
	}, []);
	return kept;
}
