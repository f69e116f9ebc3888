/**
 * Decides where the divider “New messages” is in a thread, by the rule of conversations (conversation/divider.ts): replies that the
 * user sees arrive are not new. Pure. The count of a thread arrives after its replies, in a separate answer, so whether a reply was
 * seen is decided when it arrives.
 */

export interface ThreadDividerState {
	/** The divider is after this reply: the cursor when new replies arrived, or when replies were marked unread. Null: no divider. */
	readonly anchor: string | null;
	/** The newest reply by another user. */
	readonly newest: string;
	/** Whether the user saw that reply arrive. */
	readonly isNewestSeen: boolean;
	/** The last known values, to detect changes. */
	readonly unreadCount: number;
	readonly lastRead: string;
	readonly wasSeenLive: boolean;
}

export const THREAD_OPENED: ThreadDividerState = {
	anchor: null,
	newest: '',
	isNewestSeen: false,
	unreadCount: 0,
	lastRead: '',
	wasSeenLive: false,
};

export interface ThreadSight {
	readonly newest: string;
	readonly unreadCount: number;
	readonly lastRead: string;
	/** The newest reply is on screen, the user is attentive, and the client is connected. */
	readonly isSeenLive: boolean;
	/** The oldest unread reply is above the screen. */
	readonly isNewAbove: boolean;
}

export function threadDividerAfterChange(state: ThreadDividerState, now: ThreadSight): ThreadDividerState {
	const { newest, unreadCount, lastRead, isSeenLive, isNewAbove } = now;
	const hasArrived = newest > state.newest;
	const isNewestSeen = hasArrived ? isSeenLive && state.wasSeenLive : state.isNewestSeen;
	const wasMarkedUnread = lastRead < state.lastRead;
	const arrivedUnseen = state.unreadCount === 0 && !isNewestSeen;
	// More replies arrived than fit on the screen: a divider shows where they start.
	const hasSkipped = isNewAbove && state.anchor === null;
	const isMoved = unreadCount > 0 && (wasMarkedUnread || arrivedUnseen || hasSkipped);
	return {
		anchor: isMoved ? lastRead : state.anchor,
		newest: hasArrived ? newest : state.newest,
		isNewestSeen,
		unreadCount,
		lastRead,
		wasSeenLive: isSeenLive,
	};
}
