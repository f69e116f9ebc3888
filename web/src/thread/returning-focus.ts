import { useEffect, useState } from 'react';

/**
 * When the thread closes, returns the focus to the message or button from which the user opened it. The buttons of a message are no
 * longer rendered by then. If the message itself is not rendered either, because the list has scrolled, the focus goes to the root of
 * the thread, or else to the text box.
 */
export function useReturningFocus(rootTs: string): void {
	// Read during the first render: the text box of the panel takes the focus right after it.
	const [openedFrom] = useState(() => document.activeElement);
	const [message] = useState(() => openedFrom?.closest<HTMLElement>('.pane article') ?? null);
	useEffect(
		() => () => {
			// Another thread or view already has the focus.
			if (document.activeElement !== document.body) return;
			const root = document.querySelector<HTMLElement>(`.pane article[data-ts="${CSS.escape(rootTs)}"]`);
			const button = openedFrom?.matches('.pane button') ? (openedFrom as HTMLElement) : null;
			const target = [message, button, root].find((element) => element?.isConnected);
			if (target) target.focus({ preventScroll: true });
			else if (matchMedia('(pointer: fine)').matches)
				document.querySelector<HTMLElement>('.pane > .composer textarea')?.focus();
		},
		[openedFrom, message, rootTs],
	);
}
