import type { Conversation, Message } from '@tidemark/client';
import type { TimelineRow } from './rows.ts';

/**
 * Decides where the divider “New messages” is, and whether there are unread messages above the visible ones. Pure:
 * the view passes in what is visible. The SDK's reader decides which messages are marked read automatically.
 */

/** No conversation has this revision. */
const NO_REVISION = -1;

export interface DividerState {
	/** The divider is after this message. Null: no divider. */
	readonly anchor: string | null;
	/** The revision when the user opened the conversation or marked it read: another one means that it was marked unread since. */
	readonly revision: number;
	/** The last known count, to detect changes. */
	readonly unreadCount: number;
	/** The last known `isSeenLive`. */
	readonly wasSeenLive: boolean;
}

/** The user opened the conversation. `isKeptUnread`: the user marked it unread before the page was reloaded. */
export const dividerOnOpen = (
	{ hasUnreads, lastRead, revision, unreadCount }: Conversation,
	isKeptUnread = false,
): DividerState => ({
	anchor: hasUnreads ? lastRead : null,
	revision: isKeptUnread ? NO_REVISION : revision,
	unreadCount,
	wasSeenLive: false,
});

/** The counts changed. `isSeenLive`: the newest message is on screen, the user is attentive, and the client is connected. */
export function dividerAfterChange(
	state: DividerState,
	conversation: Conversation,
	isSeenLive: boolean,
): DividerState {
	const { unreadCount, lastRead, revision, hasUnreads } = conversation;
	const wasMarkedUnread = revision !== state.revision && hasUnreads && unreadCount > state.unreadCount;
	const wasSeen = isSeenLive && state.wasSeenLive;
	const arrivedUnseen = state.unreadCount === 0 && hasUnreads && !wasSeen;
	const anchor = wasMarkedUnread || arrivedUnseen ? lastRead : state.anchor;
	const isSame =
		anchor === state.anchor && unreadCount === state.unreadCount && isSeenLive === state.wasSeenLive;
	return isSame ? state : { ...state, anchor, unreadCount, wasSeenLive: isSeenLive };
}

/** Moves the divider above the oldest unread message. */
export const dividerAtOldestUnread = (state: DividerState, { lastRead }: Conversation): DividerState =>
	state.anchor === lastRead ? state : { ...state, anchor: lastRead };

/** The user marked the conversation read: removes the divider. */
export const dividerAfterMarkRead = (state: DividerState, { revision }: Conversation): DividerState => ({
	...state,
	anchor: null,
	revision,
});

/** Whether it was marked unread since the user opened it or marked it read. */
export const isMarkedUnread = (state: DividerState, { revision }: Conversation): boolean =>
	state.revision !== revision;

/**
 * The number of unread messages after `newestSeen`, the newest message that was on screen. The client does not know which messages are in
 * the ahead set, but the number is never larger than the unread count.
 */
export function countNewBelow(
	{ lastRead, unreadCount }: Conversation,
	rows: readonly TimelineRow[],
	{ newestSeen, self }: { readonly newestSeen: string; readonly self: string },
): number {
	const from = newestSeen > lastRead ? newestSeen : lastRead;
	const below = rows.filter(({ message }) => mayBeUnread(message, from, self)).length;
	return Math.min(below, unreadCount);
}

/** False for messages that are certainly not unread: those up to `from`, the user's own, and tombstones. */
const mayBeUnread = ({ ts, user, isTombstone }: Message, from: string, self: string): boolean =>
	ts > from && user !== self && !isTombstone;

/** Whether the oldest unread message is above the visible rows. `first`: index of the first visible row. */
export function isNewAbove(
	{ hasUnreads, lastRead }: Pick<Conversation, 'hasUnreads' | 'lastRead'>,
	rows: readonly TimelineRow[],
	{ first, hasOlder, self }: { readonly first: number; readonly hasOlder: boolean; readonly self: string },
): boolean {
	if (!hasUnreads) return false;
	if (hasOlder && (rows[0]?.message.ts ?? '') > lastRead) return true;
	const oldest = rows.findIndex(({ message }) => mayBeUnread(message, lastRead, self));
	return oldest >= 0 && oldest < first;
}
