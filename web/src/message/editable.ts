import type { Message } from '@tidemark/client';

/** A message with blocks is not editable: an edit changes only the text, which the blocks hide. */
export const isEditable = ({ user, status, isTombstone, blocks }: Message, self: string): boolean =>
	user === self && status === 'sent' && !isTombstone && !blocks?.length;

/** The user's newest message that can be edited. */
export const lastEditable = (messages: readonly Message[], self: string): Message | undefined =>
	messages.findLast((message) => isEditable(message, self));
