import type { Conversation } from '@tidemark/client';
import type { TimelineRow } from './rows.ts';

/**
 * Where the divider stands, and what is new above. Pure: the view passes in what is visible. What is marked read automatically is decided by the
 * SDK's reader.
 */

/** Of no conversation: nothing is read by itself. */
const NO_REVISION = -1;

export interface ReadingState {
	/** Everything after it is new: where the divider stands. Null for none. */
	readonly anchor: string | null;
	/** The revision in which reading by itself is allowed. */
	readonly revision: number;
	/** As it was when looked at last, to notice what changed. */
	readonly unreadCount: number;
	/** The newest message was on screen then, somebody was there, and the connection was up. */
	readonly wasFollowing: boolean;
}

/** `isKeptUnread`: it was marked unread, and the page was loaded again since. */
export const opened = (
	{ hasUnreads, lastRead, revision, unreadCount }: Conversation,
	isKeptUnread = false,
): ReadingState => ({
	anchor: hasUnreads ? lastRead : null,
	revision: isKeptUnread ? NO_REVISION : revision,
	unreadCount,
	wasFollowing: false,
});

/** The counts have changed. `isFollowing`: the newest message is on screen, somebody is there, and the connection is up. */
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

/** The user said: read. The divider goes, and what comes is read by itself again. */
export const markedRead = (state: ReadingState, { revision }: Conversation): ReadingState => ({
	...state,
	anchor: null,
	revision,
});

export const mayRead = (state: ReadingState, { revision }: Conversation): boolean =>
	state.revision === revision;

/** Whether the oldest unread message is above what is in sight. `first`: the first row in sight. */
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
