import { type RefObject, useEffect } from 'react';

/** Lets the arrow up in the text box start editing a message, by an event on the message's element. */

const EDIT = 'tidemark-edit';

export const askToEdit = (article: Element | null | undefined): void =>
	void article?.dispatchEvent(new Event(EDIT));

export function useAskedToEdit(article: RefObject<HTMLElement | null>, edit: () => void): void {
	useEffect(() => {
		const element = article.current;
		element?.addEventListener(EDIT, edit);
		return () => element?.removeEventListener(EDIT, edit);
	}, [article, edit]);
}
