import { mentionsOf } from './mentions.ts';
import type { Counts } from './types.ts';

/** What a message in the timeline does to the counts of a conversation: the rule by which the server counts. */

/** Counts stop here and are flagged. */
const COUNT_CAP = 10_000;

/** A message as far as it counts. */
export interface CountedMessage {
	/** Its stamp in the stream, 16 digits. */
	readonly position: string;
	readonly ts: string;
	readonly isOwn: boolean;
	readonly isNamed: boolean;
	/** It speaks to the reader: by name, to the whole channel, or because it is a direct message. */
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
	// One's own message is never unread; it moves the cursor only over what was read.
	if (isOwn) return { ...counts, latest: ts, ...(counts.unreadCount === 0 ? { lastRead: ts } : {}) };
	const unreadCount = Math.min(counts.unreadCount + 1, COUNT_CAP);
	const badges = counts.isMuted ? isNamed : isMention;
	return {
		...counts,
		latest: ts,
		hasUnreads: true,
		unreadCount,
		unreadCountDisplay: counts.isMuted ? 0 : unreadCount,
		mentionCount: Math.min(counts.mentionCount + (isMention ? 1 : 0), COUNT_CAP),
		badgeCount: Math.min(counts.badgeCount + (badges ? 1 : 0), COUNT_CAP),
		isCapped: counts.isCapped || counts.unreadCount === COUNT_CAP,
	};
}
