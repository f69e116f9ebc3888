import type { NotificationLevel } from '../engine/ports/facts.ts';
import type { OutboxEntry } from '../engine/ports/push.ts';
import { inTimeline, type Message } from '../model/message.ts';

/**
 * Decides which users are notified of a message. Pure: all input is passed in, and a test compares the result with
 * the rules written out one by one.
 */

/** Why a user is notified. */
export type PushReason = 'mention' | 'dm' | 'channel_mention' | 'thread_reply' | 'all';

/** What is known about a user at the time of the decision. */
export interface Recipient {
	readonly user: string;
	readonly member: boolean;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	/** The user follows the thread that the message replies to. */
	readonly follows: boolean;
	/** The user was active when the message was posted, so `<!here>` mentions them. */
	readonly wasActive: boolean;
	/** The user has read the message, in the conversation or in its thread. */
	readonly read: boolean;
	/** The user is active now, and may read the message on a connected device. */
	readonly active: boolean;
	/** The delay for active users has passed. */
	readonly waited: boolean;
}

export type NotifiableMessage = Pick<
	Message,
	'user' | 'named' | 'channelWide' | 'here' | 'threadTs' | 'broadcast' | 'deleted'
> & { readonly direct: boolean };

export type PushDecision = 'notify' | 'wait' | 'no';

/** Decides after a message was posted, or after an edit that mentions other users. */
export function decideNotification(
	message: NotifiableMessage,
	recipient: Recipient,
	because: OutboxEntry['because'] = 'posted',
): PushDecision {
	if (isObsolete(message, recipient)) return 'no';
	// Users whom the message concerned without a mention were notified when it was posted.
	if (because === 'changed' && !isMention(reasonOf(message, recipient))) return 'no';
	// A user who looks at the conversation reads the message within the delay: messages delivered to a conversation in focus are marked read.
	return recipient.active && !recipient.waited ? 'wait' : 'notify';
}

/** Whether the message no longer concerns the user, so that its notification is withdrawn. */
export const isObsolete = (message: NotifiableMessage, recipient: Recipient): boolean =>
	message.deleted || recipient.read || reasonOf(message, recipient) === null;

const isMention = (reason: PushReason | null): boolean =>
	reason === 'mention' || reason === 'channel_mention';

export function reasonOf(message: NotifiableMessage, recipient: Recipient): PushReason | null {
	const { user, member, muted, level, follows } = recipient;
	if (!member || user === message.user || level === 'none') return null;
	const shown = inTimeline(message);
	// A reply that is only in its thread concerns followers. A mention in it makes the user a follower.
	if (!shown && !follows) return null;
	if (message.named.includes(user)) return 'mention';
	if (muted) return null;
	if (shown && message.direct) return 'dm';
	if (shown && mentionsAll(message, recipient)) return 'channel_mention';
	if (follows) return 'thread_reply';
	return shown && level === 'all' ? 'all' : null;
}

const mentionsAll = (message: NotifiableMessage, { wasActive }: Recipient): boolean =>
	message.channelWide || (message.here && wasActive);
