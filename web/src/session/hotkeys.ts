import { useEffect, useRef } from 'react';

/** Keys that work anywhere in the page. An element that handles a key itself stops its propagation. */

/** One character that is not a letter. */
const isSign = (key: string): boolean => key.length === 1 && key.toLowerCase() === key.toUpperCase();

/** Written as `Shift+Escape`, `Alt+ArrowUp`, `Ctrl+k`. Cmd counts as Ctrl. */
const chordOf = (event: KeyboardEvent): string =>
	[
		event.ctrlKey || event.metaKey ? 'Ctrl' : '',
		event.altKey ? 'Alt' : '',
		// A sign may need Shift on one keyboard layout and not on another.
		event.shiftKey && !isSign(event.key) ? 'Shift' : '',
		// With Caps Lock, a letter is upper case without Shift.
		event.key.length === 1 ? event.key.toLowerCase() : event.key,
	]
		.filter(Boolean)
		.join('+');

/** Whether the key belongs to an open dialog or menu, or types into a text box. */
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

const TAKES_TEXT = 'input, textarea, select, [contenteditable]';
const PRESSED_BY_SPACE = 'button, a, summary, [role^=menuitem], [role=option]';

/** Lets the user start a message by typing anywhere: a letter that is no hotkey moves the focus to the text box. */
export function useTypingAnywhere(): void {
	useEffect(() => {
		const listener = (event: KeyboardEvent) => {
			const target = event.target as HTMLElement;
			if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
				return;
			if (event.key.length !== 1 || event.key === '?' || target.matches(TAKES_TEXT)) return;
			if (event.key === ' ' && (target.matches(PRESSED_BY_SPACE) || target === document.body)) return;
			if (document.querySelector('dialog[open], [popover]:popover-open')) return;
			const pane = target.closest('.thread-panel') ?? document.querySelector('.pane');
			// The browser then types the letter into the focused text box.
			pane?.querySelector<HTMLTextAreaElement>(':scope > .composer textarea')?.focus();
		};
		addEventListener('keydown', listener);
		return () => removeEventListener('keydown', listener);
	}, []);
}
