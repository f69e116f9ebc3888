/** Turns `oldest`, `latest`, `inclusive` and `cursor` into exclusive bounds of a timeline. */

export interface WindowArguments {
	readonly oldest: number | undefined;
	readonly latest: number | undefined;
	readonly inclusive: boolean;
	readonly cursor: string | undefined;
}

export interface Window {
	readonly after: number;
	readonly before: number;
}

/**
 * A page cursor is the last ts of the previous page: the next page is after that ts when reading forward, before it
 * when reading backward.
 */
export function pageWindow(args: WindowArguments, direction: 'forward' | 'backward'): Window {
	const window = wholeWindow(args);
	if (args.cursor === undefined) return window;
	const shown = Number(args.cursor);
	return direction === 'forward'
		? { ...window, after: Math.max(window.after, shown) }
		: { ...window, before: Math.min(window.before, shown) };
}

/** The bounds without the cursor: what all pages together cover. */
export function wholeWindow({ oldest, latest, inclusive }: Omit<WindowArguments, 'cursor'>): Window {
	const wider = inclusive ? 1 : 0;
	return {
		after: (oldest ?? 0) - (oldest === undefined ? 0 : wider),
		before: (latest ?? Number.MAX_SAFE_INTEGER) + (latest === undefined ? 0 : wider),
	};
}
