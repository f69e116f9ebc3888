import type { Attention } from '../public.ts';

/**
 * Reports the state of a browser window to `attention`: whether it is visible, whether it has the keyboard focus, and
 * when it is used. Returns a function that stops reporting.
 */

const WINDOW_CHANGES = ['focus', 'blur', 'visibilitychange'] as const;
const USER_INPUT = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const;

/** The part of a window that is used. */
export interface WindowLike {
	readonly document: { readonly visibilityState: string; hasFocus(): boolean };
	// biome-ignore lint/suspicious/noExplicitAny: events are read field by field
	addEventListener(type: string, listener: (event: any) => void, options: ListenerOptions): void;
	// biome-ignore lint/suspicious/noExplicitAny: as above
	removeEventListener(type: string, listener: (event: any) => void, options: ListenerOptions): void;
}
interface ListenerOptions {
	readonly capture: boolean;
	readonly passive: boolean;
}

interface UserInput {
	readonly type: string;
	readonly screenX: number;
	readonly screenY: number;
}

export function attendWindow(
	attention: Attention,
	target: WindowLike = globalThis as unknown as WindowLike,
): () => void {
	const { document } = target;
	const report = (): void =>
		attention.report({ isVisible: document.visibilityState === 'visible', hasFocus: document.hasFocus() });
	let pointer = '';
	const active = ({ type, screenX, screenY }: UserInput): void => {
		// Browsers also send a move when something is drawn under a resting pointer.
		if (type === 'pointermove') {
			const now = `${screenX} ${screenY}`;
			const isResting = now === pointer || pointer === '';
			pointer = now;
			if (isResting) return;
		}
		attention.active();
	};
	// The capture phase also gets events that do not bubble, or that an element stops.
	const options = { capture: true, passive: true };
	for (const type of WINDOW_CHANGES) target.addEventListener(type, report, options);
	for (const type of USER_INPUT) target.addEventListener(type, active, options);
	report();
	// Opening the page counts as activity.
	attention.active();
	return () => {
		for (const type of WINDOW_CHANGES) target.removeEventListener(type, report, options);
		for (const type of USER_INPUT) target.removeEventListener(type, active, options);
	};
}
