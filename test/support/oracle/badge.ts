/**
 * The badge, computed twice: as the sum of the formula in docs/model.md, and as the list of messages that it counts.
 * The two are written separately on purpose; a test checks that they agree (docs/model.md, promise 6).
 */

import { isDirect, isMember, unreadMentions, unreadMessages } from './conversation.ts';
import { mentionsChannelWide } from './mentions.ts';
import { unreadNamingReplies } from './threads.ts';
import type { BadgeItem, Conversation, Message, Reason, WasActive } from './types.ts';

/** The conversations that count for a user: not archived, and the user is a member. */
export function counts(conversation: Conversation, user: string): boolean {
	return !conversation.archived && isMember(conversation, user);
}

function isMuted(conversation: Conversation, user: string): boolean {
	return conversation.memberships.get(user)?.muted ?? false;
}

/** mentions(u, c) (if u has muted c, only messages that name u) + thread mentions in c, without broadcast replies */
export function badgeOf(conversation: Conversation, user: string, wasActive: WasActive): number {
	const inConversation = isMuted(conversation, user)
		? unreadMessages(conversation, user).filter((message) => message.named.has(user)).length
		: unreadMentions(conversation, user, wasActive).length;
	let inThreads = 0;
	// These count even in a muted conversation, because each of these replies names the user.
	for (const threadTs of conversation.followers.keys()) {
		inThreads += unreadNamingReplies(conversation, threadTs, user).filter((reply) => !reply.broadcast).length;
	}
	return inConversation + inThreads;
}

function reasonsFor(
	conversation: Conversation,
	message: Message,
	user: string,
	wasActive: WasActive,
): Reason[] {
	const reasons: Reason[] = [];
	if (isDirect(conversation)) {
		reasons.push('dm');
	}
	if (message.named.has(user)) {
		reasons.push('direct_mention');
	}
	// Channel-wide mentions in a muted conversation do not count, so they are not a reason either.
	if (!isMuted(conversation, user) && mentionsChannelWide(message, user, wasActive)) {
		reasons.push('channel_mention');
	}
	return reasons;
}

function item(conversation: Conversation, message: Message, reasons: Reason[]): BadgeItem {
	const base = { channel: conversation.id, ts: message.ts, reasons };
	return message.threadTs === undefined ? base : { ...base, thread_ts: message.threadTs };
}

export function badgeItems(conversation: Conversation, user: string, wasActive: WasActive): BadgeItem[] {
	const items: BadgeItem[] = [];
	for (const message of unreadMessages(conversation, user)) {
		const reasons = reasonsFor(conversation, message, user, wasActive);
		const counted = isMuted(conversation, user) ? message.named.has(user) : reasons.length > 0;
		if (counted) {
			items.push(item(conversation, message, reasons));
		}
	}
	for (const threadTs of conversation.followers.keys()) {
		for (const reply of unreadNamingReplies(conversation, threadTs, user)) {
			if (!reply.broadcast) {
				items.push(item(conversation, reply, ['thread_mention']));
			}
		}
	}
	return items.sort((a, b) => a.ts - b.ts);
}
