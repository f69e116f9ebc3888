import type { Message } from './types.ts';

/** Lists of messages in the order of their ts. Each function answers the list itself when there is nothing to change. */

type Messages = readonly Message[];

/** Where this ts stands, or would. From the end: what is new comes last. */
function placeOf(messages: Messages, ts: string): number {
	let index = messages.length;
	while (index > 0 && (messages[index - 1] as Message).ts >= ts) index -= 1;
	return index;
}

/** Adds it, or puts it in the place of what is there. */
export function insert(messages: Messages, message: Message): Messages {
	const index = placeOf(messages, message.ts);
	const isThere = messages[index]?.ts === message.ts;
	return [...messages.slice(0, index), message, ...messages.slice(index + (isThere ? 1 : 0))];
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
