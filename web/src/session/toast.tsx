import { ApiError } from '@tidemark/client';
import { useEffect, useSyncExternalStore } from 'react';
import { errorText } from '../ui/states.tsx';

/** A short message about the last action, shown for a few seconds and read aloud. */

const SHOWN_MS = 5_000;
let text = '';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function toast(sentence: string): void {
	text = sentence;
	clearTimeout(timer);
	if (sentence) timer = setTimeout(() => toast(''), SHOWN_MS);
	for (const listener of listeners) listener();
}

/** Shows the result of an action that nothing awaits: its error, or the text for success if there is one. */
export function toastResult(work: Promise<unknown>, success?: string): void {
	work.then(
		() => success && toast(success),
		(error: unknown) =>
			toast(error instanceof ApiError ? errorText(error.code) : 'This did not work. Try again.'),
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
		const clear = () => toast('');
		addEventListener('hashchange', clear);
		return () => removeEventListener('hashchange', clear);
	}, []);
	return (
		<div className="toast-place" role="status">
			{shown && <div className="toast">{shown}</div>}
		</div>
	);
}
