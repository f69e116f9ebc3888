import type { Conversation } from '@tidemark/client';

/**
 * Remembers, in this tab, that the user marked the open conversation unread, so that a reload does not mark it read. Forgotten when
 * the user opens another conversation.
 */

const KEY = 'tidemark.kept-unread';
const entryOf = ({ id, revision }: Conversation): string => `${id} ${revision}`;

export const isKeptUnread = (conversation: Conversation): boolean =>
	sessionStorage.getItem(KEY) === entryOf(conversation);
export const keepUnread = (conversation: Conversation): void =>
	sessionStorage.setItem(KEY, entryOf(conversation));
export const forgetUnread = (): void => sessionStorage.removeItem(KEY);
