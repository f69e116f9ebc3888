import { ApiError } from '@tidemark/client';
import { useEffect, useSyncExternalStore } from 'react';
import { sayError } from '../ui/states.tsx';

/** A short message about the last action, shown for a few seconds and read aloud. */

const SHOWN_MS = 5_000;
let text = '';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function say(sentence: string): void {
	text = sentence;
	clearTimeout(timer);
	if (sentence) timer = setTimeout(() => say(''), SHOWN_MS);
	for (const listener of listeners) listener();
}

/** For actions that nothing waits for: shows their success, or their error. */
export function showToast(work: Promise<unknown>, success?: string): void {
	work.then(
		() => success && say(success),
		(error: unknown) =>
			say(error instanceof ApiError ? sayError(error.code) : 'That did not work. Try again.'),
	);
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export function Toast() {
	const shown = useSyncExternalStore(subscribe, () => text);
	// The message belongs to the view in which the action happened.
	useEffect(() => {
		const clear = () => say('');
		addEventListener('hashchange', clear);
		return () => removeEventListener('hashchange', clear);
	}, []);
	return (
		<div className="toast-place" role="status">
			{shown && <div className="toast">{shown}</div>}
		</div>
	);
}
