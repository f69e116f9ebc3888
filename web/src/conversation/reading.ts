import type { Conversation } from '@tidemark/client';

/**
 * When something is read by itself, and where the divider stands. Pure: the view tells what it sees.
 *
 * A conversation is read when its oldest unread message and its newest one have both been on screen, before somebody's eyes.
 * Whoever marks unread, here or on another device, is not overruled: until the conversation is opened again, or the user says
 * so, nothing is marked by itself.
 */

export interface Reading {
	/** Everything after it is new: where the divider stands. Null for none. */
	readonly anchor: string | null;
	/** The revision in which reading by itself is allowed. */
	readonly revision: number;
	/** The oldest unread message was on screen. */
	readonly hasSeenOldest: boolean;
	/** As it was when looked at last, to notice what changed. */
	readonly unreadCount: number;
}

export const opened = ({ hasUnreads, lastRead, revision, unreadCount }: Conversation): Reading => ({
	anchor: hasUnreads ? lastRead : null,
	revision,
	hasSeenOldest: false,
	unreadCount,
});

/** The counts have changed. `isFollowing`: the newest message is on screen, and somebody looks. */
export function changed(reading: Reading, conversation: Conversation, isFollowing: boolean): Reading {
	const { unreadCount, lastRead, revision, hasUnreads } = conversation;
	const wasMarkedUnread = revision !== reading.revision && hasUnreads && unreadCount > reading.unreadCount;
	const cameWhileAway = reading.unreadCount === 0 && hasUnreads && !isFollowing;
	if (wasMarkedUnread || cameWhileAway)
		return { ...reading, anchor: lastRead, hasSeenOldest: false, unreadCount };
	return unreadCount === reading.unreadCount ? reading : { ...reading, unreadCount };
}

/** The user said: read. The divider goes, and what comes is read by itself again. */
export const markedRead = (reading: Reading, { revision }: Conversation): Reading => ({
	...reading,
	anchor: null,
	revision,
	hasSeenOldest: true,
});

export const mayRead = (reading: Reading, { revision }: Conversation): boolean =>
	reading.revision === revision;

export const isToBeMarked = (reading: Reading, conversation: Conversation, isFollowing: boolean): boolean =>
	isFollowing && conversation.hasUnreads && reading.hasSeenOldest && mayRead(reading, conversation);
