/**
 * The timeline, cursors and ahead sets of one conversation: the formulas `unread` and `mentions`, and the part of the
 * table "What moves them" that is not about threads.
 */

import { mentionsChannelWide } from './mentions.ts';
import type { Conversation, Membership, Message, WasActive } from './types.ts';

export function isDirect(conversation: Conversation): boolean {
	return conversation.kind === 'im' || conversation.kind === 'mpim';
}

export function isMember(conversation: Conversation, user: string): boolean {
	return conversation.memberships.get(user)?.present ?? false;
}

export function membershipOf(conversation: Conversation, user: string): Membership {
	const membership = conversation.memberships.get(user);
	if (!membership?.present) {
		throw new Error(`${user} is not a member of ${conversation.id}`);
	}
	return membership;
}

export function messageAt(conversation: Conversation, ts: number): Message {
	const message = conversation.messages.find((candidate) => candidate.ts === ts && !candidate.deleted);
	if (message === undefined) {
		throw new Error(`${conversation.id} has no message ${ts}`);
	}
	return message;
}

/** Undeleted root messages and broadcast replies, in ts order. */
export function timeline(conversation: Conversation): Message[] {
	return conversation.messages
		.filter((message) => !message.deleted && (message.threadTs === undefined || message.broadcast))
		.sort((a, b) => a.ts - b.ts);
}

export function newestInTimeline(conversation: Conversation): number {
	return Math.max(0, ...timeline(conversation).map((message) => message.ts));
}

/** { m in timeline(c) : m.ts > cursor(u,c), author(m) != u, m not in ahead(u,c) } */
export function unreadMessages(conversation: Conversation, user: string): Message[] {
	const { cursor, ahead } = membershipOf(conversation, user);
	return timeline(conversation).filter(
		(message) => message.ts > cursor && message.author !== user && !ahead.has(message.ts),
	);
}

/** { m in that same set : m mentions u }; in a direct or group message every unread message. */
export function unreadMentions(conversation: Conversation, user: string, wasActive: WasActive): Message[] {
	return unreadMessages(conversation, user).filter(
		(message) =>
			isDirect(conversation) || message.named.has(user) || mentionsChannelWide(message, user, wasActive),
	);
}

/** The members for whom the message is not unread, including its author. */
export function readersOf(conversation: Conversation, ts: number): string[] {
	return [...conversation.memberships.keys()]
		.filter((user) => isMember(conversation, user))
		.filter((user) => !unreadMessages(conversation, user).some((message) => message.ts === ts))
		.sort();
}

/**
 * A join or rejoin. The cursor starts at the newest ts of any message ever posted, including deleted messages and
 * replies, so that it does not depend on earlier deletes.
 */
export function join(conversation: Conversation, user: string): void {
	const old = conversation.memberships.get(user);
	if (old?.present) {
		throw new Error(`${user} is already a member of ${conversation.id}`);
	}
	conversation.memberships.set(user, {
		present: true,
		cursor: Math.max(0, ...conversation.messages.map((message) => message.ts)),
		revision: old === undefined ? 0 : old.revision + 1,
		ahead: new Set(),
		muted: false,
	});
}

/** The only way to move a cursor forward: never back, and the ahead set keeps only later messages. */
export function advanceCursor(membership: Membership, ts: number): void {
	membership.cursor = Math.max(membership.cursor, ts);
	membership.ahead = new Set([...membership.ahead].filter((entry) => entry > membership.cursor));
}

/**
 * Mark read to ts. A ts after the newest timeline message means that message; in an empty timeline nothing moves. The
 * cursor does not continue over the ahead set: only marks of single messages do that.
 */
export function markRead(conversation: Conversation, user: string, ts: number, revision?: number): boolean {
	const membership = membershipOf(conversation, user);
	// Only an older revision voids a mark: a higher one counts as current, and a mark without one always applies.
	if (revision !== undefined && revision < membership.revision) {
		return false;
	}
	advanceCursor(membership, Math.min(ts, newestInTimeline(conversation)));
	return true;
}

export function markUnread(conversation: Conversation, user: string, ts: number): void {
	const membership = membershipOf(conversation, user);
	membership.cursor = Math.min(membership.cursor, ts - 1);
	membership.ahead = new Set([...membership.ahead].filter((entry) => entry < ts));
	// The revision rises even if nothing moved: the user said "unread", and no older mark of a device may undo that.
	membership.revision += 1;
}

/** Mark one message read: the next message moves the cursor, any other enters the ahead set. */
export function markMessage(conversation: Conversation, user: string, ts: number): void {
	const membership = membershipOf(conversation, user);
	const after = timeline(conversation).filter((message) => message.ts > membership.cursor);
	if (ts <= membership.cursor) {
		return;
	}
	if (after[0]?.ts !== ts) {
		membership.ahead.add(ts);
		return;
	}
	let reached = ts;
	for (const message of after.slice(1)) {
		if (message.author !== user && !membership.ahead.has(message.ts)) {
			break;
		}
		reached = message.ts;
	}
	advanceCursor(membership, reached);
}
