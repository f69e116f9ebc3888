import type { Message } from '@tidemark/client';

/** An edit changes the text: where there are blocks nobody would see that. */
export const isEditable = ({ user, status, isTombstone, blocks }: Message, self: string): boolean =>
	user === self && status === 'sent' && !isTombstone && !blocks?.length;

/** The newest message of one's own that can be edited. */
export const lastEditable = (messages: readonly Message[], self: string): Message | undefined =>
	messages.findLast((message) => isEditable(message, self));
