import type { Message } from './types.ts';

/**
 * What the server has, then what is on its way. The previous list when it would be the same, so that nothing is drawn again
 * for a change elsewhere.
 */
export function joined(
	previous: readonly Message[] | undefined,
	messages: readonly Message[],
	sending: readonly Message[],
): readonly Message[] {
	if (sending.length === 0) return messages;
	const all = [...messages, ...sending];
	const isSame =
		previous?.length === all.length && all.every((message, index) => message === previous[index]);
	return isSame ? previous : all;
}
