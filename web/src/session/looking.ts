import { useSyncExternalStore } from 'react';

/** Whether somebody looks at this page: it is in front and has the keyboard. Only then is anything read by itself. */

const EVENTS = ['focus', 'blur', 'visibilitychange'] as const;

function subscribe(listener: () => void): () => void {
	// Of a window they do not bubble, of the document they do not reach the window: both are heard in the capture phase.
	for (const event of EVENTS) addEventListener(event, listener, true);
	return () => {
		for (const event of EVENTS) removeEventListener(event, listener, true);
	};
}

export const isLooking = (): boolean => document.visibilityState === 'visible' && document.hasFocus();

export const useLooking = (): boolean => useSyncExternalStore(subscribe, isLooking);
