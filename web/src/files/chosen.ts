import { useSyncExternalStore } from 'react';

/**
 * Files that the user has chosen for a message and not sent yet. `place` is the conversation or thread of the message. A reload
 * loses the files, because browsers cannot store them.
 */

/** Maximum number of files per message. */
export const MAX_FILES = 20;

const NONE: readonly File[] = [];
const chosen = new Map<string, readonly File[]>();
const listeners = new Set<() => void>();

export const placeOf = (channel: string, threadTs?: string): string => `${channel} ${threadTs ?? ''}`;

function set(place: string, files: readonly File[]): void {
	if (files.length > 0) chosen.set(place, files);
	else chosen.delete(place);
	for (const listener of listeners) listener();
}

/** Returns how many files exceed the limit and were not added. */
export function addFiles(place: string, files: readonly File[]): number {
	const all = [...(chosen.get(place) ?? NONE), ...files];
	set(place, all.slice(0, MAX_FILES));
	return Math.max(0, all.length - MAX_FILES);
}

export const removeFile = (place: string, file: File): void =>
	set(
		place,
		(chosen.get(place) ?? NONE).filter((one) => one !== file),
	);

export function takeFiles(place: string): readonly File[] {
	const files = chosen.get(place) ?? NONE;
	set(place, NONE);
	return files;
}

export const hasChosen = (): boolean => chosen.size > 0;

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export const useChosen = (place: string): readonly File[] =>
	useSyncExternalStore(subscribe, () => chosen.get(place) ?? NONE);
