import { ApiError } from '@tidemark/client';
import { useEffect, useSyncExternalStore } from 'react';
import { sayError } from '../ui/states.tsx';

/** A sentence about what just happened, for a few seconds; read aloud too. */

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

/** For what is done without waiting: nothing that fails goes by unseen. */
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
	// It is about what was done there: who goes elsewhere has seen it, or does not care.
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
