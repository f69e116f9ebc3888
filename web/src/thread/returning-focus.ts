import { useEffect, useState } from 'react';

/**
 * A thread that closes returns the focus to the message it was opened from, so that the keyboard continues there. The buttons of
 * that message are gone by then, and the message too if the list has scrolled: then the text box gets the focus.
 */
export function useReturningFocus(rootTs: string): void {
	// While the panel is first drawn: its text box takes the focus right after that.
	const [openedFrom] = useState(() => document.activeElement);
	const [message] = useState(() => openedFrom?.closest<HTMLElement>('.pane article') ?? null);
	useEffect(
		() => () => {
			// Another thread or another view has the focus already.
			if (document.activeElement !== document.body) return;
			const root = document.querySelector<HTMLElement>(`.pane article[data-ts="${CSS.escape(rootTs)}"]`);
			const button = openedFrom?.matches('.pane button') ? (openedFrom as HTMLElement) : null;
			const place = [message, button, root].find((element) => element?.isConnected);
			if (place) place.focus({ preventScroll: true });
			else if (matchMedia('(pointer: fine)').matches)
				document.querySelector<HTMLElement>('.pane > .composer textarea')?.focus();
		},
		[openedFrom, message, rootTs],
	);
}
