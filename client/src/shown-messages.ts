import type { Message } from './types.ts';

/**
 * Joins the messages of the server and the unsent ones. Returns the previous list if nothing in it changed, so that
 * unrelated changes cause no rendering.
 */
export function withUnsent(
	previous: readonly Message[] | undefined,
	messages: readonly Message[],
	unsent: readonly Message[],
): readonly Message[] {
	if (unsent.length === 0) return messages;
	const all = [...messages, ...unsent];
	const isSame =
		previous?.length === all.length && all.every((message, index) => message === previous[index]);
	return isSame ? previous : all;
}
