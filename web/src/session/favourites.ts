import { useSyncExternalStore } from 'react';

/** Conversations that one wants on top, and sections that are folded: of one user, in this browser. */

const listeners = new Set<() => void>();
const NONE: ReadonlySet<string> = new Set();
/** The same set until it changes. */
const parsed = new Map<string, { readonly text: string; readonly set: ReadonlySet<string> }>();

function read(key: string): ReadonlySet<string> {
	const text = localStorage.getItem(key);
	if (text === null) return NONE;
	const known = parsed.get(key);
	if (known?.text === text) return known.set;
	const set = new Set(text.split(' ').filter(Boolean));
	parsed.set(key, { text, set });
	return set;
}

function change(key: string, item: string, isIn: boolean): void {
	const others = [...read(key)].filter((one) => one !== item);
	localStorage.setItem(key, (isIn ? [...others, item] : others).join(' '));
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	addEventListener('storage', listener);
	return () => {
		listeners.delete(listener);
		removeEventListener('storage', listener);
	};
}

const favouritesOf = (user: string): string => `tidemark.favourites.${user}`;
const foldedOf = (user: string): string => `tidemark.folded.${user}`;

export const useFavourites = (user: string): ReadonlySet<string> =>
	useSyncExternalStore(subscribe, () => read(favouritesOf(user)));
export const setFavourite = (user: string, conversation: string, isFavourite: boolean): void =>
	change(favouritesOf(user), conversation, isFavourite);

export const useFolded = (user: string): ReadonlySet<string> =>
	useSyncExternalStore(subscribe, () => read(foldedOf(user)));
/** A section by its heading; spaces would part it. */
export const setFolded = (user: string, heading: string, isFolded: boolean): void =>
	change(foldedOf(user), heading.replaceAll(' ', '-'), isFolded);
export const isFolded = (folded: ReadonlySet<string>, heading: string): boolean =>
	folded.has(heading.replaceAll(' ', '-'));
