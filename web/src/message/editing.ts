import type { Message } from '@tidemark/client';
import { type RefObject, useEffect } from 'react';

/** Which messages the user can edit, and how the text box starts editing one: by an event on the message's element. */

/** A message with blocks is not editable: an edit changes only the text, which the blocks hide. */
export const isEditable = ({ user, status, isTombstone, blocks }: Message, self: string): boolean =>
	user === self && status === 'sent' && !isTombstone && !blocks?.length;

/** The user's newest message that can be edited. */
export const lastEditable = (messages: readonly Message[], self: string): Message | undefined =>
	messages.findLast((message) => isEditable(message, self));

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
