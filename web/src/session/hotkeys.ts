import { useEffect, useRef } from 'react';

/** Keys that work wherever one is. What has a use for the key itself stops it on its way here. */

/** Written as `Shift+Escape`, `Alt+ArrowUp`, `Ctrl+k`. Cmd counts as Ctrl. */
const chordOf = (event: KeyboardEvent): string =>
	[
		event.ctrlKey || event.metaKey ? 'Ctrl' : '',
		event.altKey ? 'Alt' : '',
		// A letter or a sign has Shift in it already.
		event.shiftKey && event.key.length > 1 ? 'Shift' : '',
		event.key,
	]
		.filter(Boolean)
		.join('+');

/** A dialog or a menu closes first; a key that writes is for the text. */
function isTaken(event: KeyboardEvent, chord: string): boolean {
	if (document.querySelector('dialog[open], [popover]:popover-open')) return true;
	const target = event.target as HTMLElement;
	return chord.length === 1 && target.matches('input, textarea, select');
}

export function useHotkey(chord: string, run: () => void): void {
	const latest = useRef(run);
	useEffect(() => {
		latest.current = run;
	});
	useEffect(() => {
		const listener = (event: KeyboardEvent) => {
			if (event.defaultPrevented || chordOf(event) !== chord || isTaken(event, chord)) return;
			event.preventDefault();
			latest.current();
		};
		addEventListener('keydown', listener);
		return () => removeEventListener('keydown', listener);
	}, [chord]);
}
