import type { Message } from './types.ts';

/** Changes lists of messages ordered by ts. Each function returns the given list if nothing changes. */

type Messages = readonly Message[];

/** The index of the message with this ts, or the index at which to insert it. Searches from the end, where new messages are. */
function placeOf(messages: Messages, ts: string): number {
	let index = messages.length;
	while (index > 0 && (messages[index - 1] as Message).ts >= ts) index -= 1;
	return index;
}

/** Inserts a message, or replaces the one with the same ts. */
export function insert(messages: Messages, message: Message): Messages {
	const index = placeOf(messages, message.ts);
	const isPresent = messages[index]?.ts === message.ts;
	return [...messages.slice(0, index), message, ...messages.slice(index + (isPresent ? 1 : 0))];
}

export function replace(messages: Messages, message: Message): Messages {
	return messages[placeOf(messages, message.ts)]?.ts === message.ts ? insert(messages, message) : messages;
}

export function remove(messages: Messages, ts: string): Messages {
	const index = placeOf(messages, ts);
	return messages[index]?.ts === ts ? [...messages.slice(0, index), ...messages.slice(index + 1)] : messages;
}

export const find = (messages: Messages, ts: string): Message | undefined => {
	const found = messages[placeOf(messages, ts)];
	return found?.ts === ts ? found : undefined;
};
