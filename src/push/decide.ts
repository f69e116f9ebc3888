import type { NotificationLevel } from '../engine/ports/facts.ts';
import type { OutboxEntry } from '../engine/ports/push.ts';
import { inTimeline, type Message } from '../model/message.ts';

/**
 * Who is notified of a message. Pure: everything it depends on is passed in, and a test compares it
 * against the rules written out one by one.
 */

/** Why a user is notified; null from `reasonOf`: it does not concern them. */
export type PushReason = 'mention' | 'dm' | 'channel_mention' | 'thread_reply' | 'all';

/** What is known of somebody the message may concern, as of the moment of looking. */
export interface Recipient {
	readonly user: string;
	readonly member: boolean;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	/** They follow the thread that the message is a reply of. */
	readonly follows: boolean;
	/** They were active when it was sent, so that a `<!here>` spoke to them. */
	readonly wasActive: boolean;
	/** They have read it, in the conversation or in its thread. */
	readonly read: boolean;
	/** Active right now: they may be about to see it there. */
	readonly active: boolean;
	/** They were given the time to. */
	readonly waited: boolean;
}

export type Subject = Pick<
	Message,
	'user' | 'named' | 'channelWide' | 'here' | 'threadTs' | 'broadcast' | 'deleted'
> & { readonly direct: boolean };

export type Verdict = 'notify' | 'wait' | 'no';

/** Who is notified after a message was posted, or after an edit that mentions others than before. */
export function decide(
	message: Subject,
	recipient: Recipient,
	because: OutboxEntry['because'] = 'posted',
): Verdict {
	if (isOver(message, recipient)) return 'no';
	// Users whom it concerned without a mention were notified when it was posted.
	if (because === 'changed' && !isCall(reasonOf(message, recipient))) return 'no';
	// A user who looks at the conversation reads it within that time: messages delivered into focus are marked.
	return recipient.active && !recipient.waited ? 'wait' : 'notify';
}

/** Whether it no longer concerns them: its notification is withdrawn then. */
export const isOver = (message: Subject, recipient: Recipient): boolean =>
	message.deleted || recipient.read || reasonOf(message, recipient) === null;

const isCall = (reason: PushReason | null): boolean => reason === 'mention' || reason === 'channel_mention';

export function reasonOf(message: Subject, recipient: Recipient): PushReason | null {
	const { user, member, muted, level, follows } = recipient;
	if (!member || user === message.user || level === 'none') return null;
	const shown = inTimeline(message);
	// A reply that stands in its thread alone concerns those who follow it. Being named in it makes one a follower.
	if (!shown && !follows) return null;
	if (message.named.includes(user)) return 'mention';
	if (muted) return null;
	if (shown && message.direct) return 'dm';
	if (shown && speaksToAll(message, recipient)) return 'channel_mention';
	if (follows) return 'thread_reply';
	return shown && level === 'all' ? 'all' : null;
}

const speaksToAll = (message: Subject, { wasActive }: Recipient): boolean =>
	message.channelWide || (message.here && wasActive);
