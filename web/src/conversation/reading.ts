import type { Conversation } from '@tidemark/client';
import type { TimelineRow } from './rows.ts';

/**
 * Where the divider is, and whether there are new messages above. Pure: the view passes in what is visible. The SDK's reader decides
 * what is marked read automatically.
 */

/** For no conversation: nothing is marked automatically. */
const NO_REVISION = -1;

export interface ReadingState {
	/** The divider is after this message. Null: no divider. */
	readonly anchor: string | null;
	/** The revision in which automatic marking is allowed. */
	readonly revision: number;
	/** The last known state, to detect changes. */
	readonly unreadCount: number;
	/** In that state the newest message was on screen, the user was looking, and the client was connected. */
	readonly wasFollowing: boolean;
}

/** `isKeptUnread`: the user marked it unread before the page was reloaded. */
export const opened = (
	{ hasUnreads, lastRead, revision, unreadCount }: Conversation,
	isKeptUnread = false,
): ReadingState => ({
	anchor: hasUnreads ? lastRead : null,
	revision: isKeptUnread ? NO_REVISION : revision,
	unreadCount,
	wasFollowing: false,
});

/** Called when the counts changed. `isFollowing`: the newest message is on screen, the user is looking, and the client is connected. */
export function changed(state: ReadingState, conversation: Conversation, isFollowing: boolean): ReadingState {
	const { unreadCount, lastRead, revision, hasUnreads } = conversation;
	const wasMarkedUnread = revision !== state.revision && hasUnreads && unreadCount > state.unreadCount;
	const wasLookedAt = isFollowing && state.wasFollowing;
	const cameUnseen = state.unreadCount === 0 && hasUnreads && !wasLookedAt;
	const anchor = wasMarkedUnread || cameUnseen ? lastRead : state.anchor;
	const isSame =
		anchor === state.anchor && unreadCount === state.unreadCount && isFollowing === state.wasFollowing;
	return isSame ? state : { ...state, anchor, unreadCount, wasFollowing: isFollowing };
}

/** The divider goes above the oldest unread message. */
export const dividedAt = (state: ReadingState, { lastRead }: Conversation): ReadingState =>
	state.anchor === lastRead ? state : { ...state, anchor: lastRead };

/** The user marked it read: removes the divider and resumes automatic marking. */
export const markedRead = (state: ReadingState, { revision }: Conversation): ReadingState => ({
	...state,
	anchor: null,
	revision,
});

export const mayRead = (state: ReadingState, { revision }: Conversation): boolean =>
	state.revision === revision;

/** Whether the oldest unread message is above the visible rows. `first`: the first visible row. */
export function isNewAbove(
	{ hasUnreads, lastRead }: Conversation,
	rows: readonly TimelineRow[],
	{ first, hasOlder, self }: { readonly first: number; readonly hasOlder: boolean; readonly self: string },
): boolean {
	if (!hasUnreads) return false;
	if (hasOlder && (rows[0]?.message.ts ?? '') > lastRead) return true;
	const oldest = rows.findIndex(
		({ message }) => message.ts > lastRead && message.user !== self && !message.isTombstone,
	);
	return oldest >= 0 && oldest < first;
}
