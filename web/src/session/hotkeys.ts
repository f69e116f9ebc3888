import { useEffect, useRef } from 'react';

/** Keys that work wherever one is. What has a use for the key itself stops it on its way here. */

/** Written as `Shift+Escape`, `Alt+ArrowUp`, `Ctrl+k`. Cmd counts as Ctrl. */
const chordOf = (event: KeyboardEvent): string =>
	[
		event.ctrlKey || event.metaKey ? 'Ctrl' : '',
		event.altKey ? 'Alt' : '',
		// A letter or a sign has Shift in it already.
		event.shiftKey && event.key.length > 1 ? 'Shift' : '',
		// Caps Lock makes a letter large without Shift.
		event.key.length === 1 ? event.key.toLowerCase() : event.key,
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

const WRITES_ITSELF = 'input, textarea, select, [contenteditable]';
const PRESSED_BY_SPACE = 'button, a, summary, [role^=menuitem], [role=option]';

/** A letter that is for nothing else begins a message: it goes where one writes. */
export function useTypingAnywhere(): void {
	useEffect(() => {
		const listener = (event: KeyboardEvent) => {
			const target = event.target as HTMLElement;
			if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
				return;
			if (event.key.length !== 1 || event.key === '?' || target.matches(WRITES_ITSELF)) return;
			if (event.key === ' ' && (target.matches(PRESSED_BY_SPACE) || target === document.body)) return;
			if (document.querySelector('dialog[open], [popover]:popover-open')) return;
			const place = target.closest('.thread-panel') ?? document.querySelector('.pane');
			// The letter follows the focus.
			place?.querySelector<HTMLTextAreaElement>(':scope > .composer textarea')?.focus();
		};
		addEventListener('keydown', listener);
		return () => removeEventListener('keydown', listener);
	}, []);
}
