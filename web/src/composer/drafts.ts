import { useSyncExternalStore } from 'react';

/** What was begun and not sent, by user and place; kept in this browser, shown by every tab. */

const PREFIX = 'tidemark.draft.';
const listeners = new Set<() => void>();

const keyOf = (user: string, channel: string, threadTs = ''): string =>
	`${PREFIX}${user}.${channel}${threadTs ? `.${threadTs}` : ''}`;

export const draftOf = (user: string, channel: string, threadTs?: string): string =>
	localStorage.getItem(keyOf(user, channel, threadTs)) ?? '';

export function keepDraft(user: string, channel: string, threadTs: string | undefined, text: string): void {
	const key = keyOf(user, channel, threadTs);
	const had = localStorage.getItem(key) !== null;
	try {
		if (text.trim() === '') localStorage.removeItem(key);
		else localStorage.setItem(key, text);
	} catch {
		// The storage is full: the text stays where it is written.
	}
	if (had === (text.trim() === '')) for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	addEventListener('storage', listener);
	return () => {
		listeners.delete(listener);
		removeEventListener('storage', listener);
	};
}

/** Whether something was begun in the conversation itself. */
export const useHasDraft = (user: string, channel: string): boolean =>
	useSyncExternalStore(subscribe, () => localStorage.getItem(keyOf(user, channel)) !== null);
