import { mentionsOf } from './mentions.ts';
import type { Counts } from './types.ts';

/** How a message in the timeline changes the counts of its conversation, by the server's rules. */

/** Counts stop here and are flagged as capped. */
const COUNT_CAP = 10_000;

/** The part of a message that counting needs. */
export interface CountedMessage {
	/** The stamp of the message, 16 digits. */
	readonly position: string;
	readonly ts: string;
	readonly isOwn: boolean;
	readonly isNamed: boolean;
	/** The message mentions the user or the whole channel, or is in a direct or group message. */
	readonly isMention: boolean;
}

export interface PostedEvent {
	readonly position: string;
	readonly ts: string;
	readonly user: string;
	readonly text: string;
	readonly channel_type: string;
}

export function countedMessage(event: PostedEvent, self: string): CountedMessage {
	const { position, ts, user, text, channel_type: type } = event;
	const { isNamed, isChannelWide } = mentionsOf(text, self);
	const isMention = isNamed || isChannelWide || type === 'im' || type === 'mpim';
	return { position, ts, isOwn: user === self, isNamed, isMention };
}

export function countMessage<T extends Counts>(counts: T, message: CountedMessage): T {
	const { ts, isOwn, isNamed, isMention } = message;
	// A user's own message is never unread; it moves the cursor only if everything was read.
	if (isOwn) return { ...counts, latest: ts, ...(counts.unreadCount === 0 ? { lastRead: ts } : {}) };
	const unreadCount = Math.min(counts.unreadCount + 1, COUNT_CAP);
	const isBadged = counts.isMuted ? isNamed : isMention;
	return {
		...counts,
		latest: ts,
		hasUnreads: true,
		unreadCount,
		unreadCountDisplay: counts.isMuted ? 0 : unreadCount,
		mentionCount: Math.min(counts.mentionCount + (isMention ? 1 : 0), COUNT_CAP),
		badgeCount: Math.min(counts.badgeCount + (isBadged ? 1 : 0), COUNT_CAP),
		isCapped: counts.isCapped || counts.unreadCount === COUNT_CAP,
	};
}
