import type { Conversation } from '@tidemark/client';

/**
 * That the open conversation was marked unread, for as long as it stays open in this tab: a reload does not read it. Going
 * elsewhere ends it, and coming back reads again.
 */

const KEY = 'tidemark.kept-unread';
const wordOf = ({ id, revision }: Conversation): string => `${id} ${revision}`;

export const isKeptUnread = (conversation: Conversation): boolean =>
	sessionStorage.getItem(KEY) === wordOf(conversation);
export const keepUnread = (conversation: Conversation): void =>
	sessionStorage.setItem(KEY, wordOf(conversation));
export const forgetUnread = (): void => sessionStorage.removeItem(KEY);
