import type { Conversation } from '@tidemark/client';

/**
 * Remembers that the open conversation was marked unread while it stays open in this tab, so that a reload does not mark it read.
 * Opening another conversation forgets it.
 */

const KEY = 'tidemark.kept-unread';
const wordOf = ({ id, revision }: Conversation): string => `${id} ${revision}`;

export const isKeptUnread = (conversation: Conversation): boolean =>
	sessionStorage.getItem(KEY) === wordOf(conversation);
export const keepUnread = (conversation: Conversation): void =>
	sessionStorage.setItem(KEY, wordOf(conversation));
export const forgetUnread = (): void => sessionStorage.removeItem(KEY);
