import { useSyncExternalStore } from 'react';

/** Drafts in the browser's storage, one for each user and each conversation or thread. All tabs share them. */

const PREFIX = 'tidemark.draft.';
const listeners = new Set<() => void>();

const keyOf = (user: string, channel: string, threadTs = ''): string =>
	`${PREFIX}${user}.${channel}${threadTs ? `.${threadTs}` : ''}`;

export const draftOf = (user: string, channel: string, threadTs?: string): string =>
	localStorage.getItem(keyOf(user, channel, threadTs)) ?? '';

export function saveDraft(user: string, channel: string, threadTs: string | undefined, text: string): void {
	const key = keyOf(user, channel, threadTs);
	const had = localStorage.getItem(key) !== null;
	try {
		if (text.trim() === '') localStorage.removeItem(key);
		else localStorage.setItem(key, text);
	} catch {
		// The storage is full: only the text box has the text.
	}
	if (had === (text.trim() === '')) for (const listener of listeners) listener();
}

/** Puts a text before the current draft. Returns the new draft. */
export function addToDraft(
	user: string,
	channel: string,
	threadTs: string | undefined,
	written: string,
): string {
	const since = draftOf(user, channel, threadTs);
	const all = [written, since].filter((text) => text.trim() !== '').join('\n');
	saveDraft(user, channel, threadTs, all);
	return all;
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	addEventListener('storage', listener);
	return () => {
		listeners.delete(listener);
		removeEventListener('storage', listener);
	};
}

/** Whether the conversation itself has a draft; threads do not count. */
export const useHasDraft = (user: string, channel: string): boolean =>
	useSyncExternalStore(subscribe, () => localStorage.getItem(keyOf(user, channel)) !== null);
