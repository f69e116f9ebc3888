/**
 * The followers and cursors of threads, independent of the conversation's cursors. A user follows a thread while the user
 * has a cursor in it. Unfollowing removes the cursor; a later follow sets a new one, whose place depends on its cause.
 */

import { isMember } from './conversation.ts';
import type { Conversation, Message } from './types.ts';

/** All undeleted replies of a thread, broadcast or not, in ts order. */
export function repliesIn(conversation: Conversation, threadTs: number): Message[] {
	return conversation.messages
		.filter((message) => message.threadTs === threadTs && !message.deleted)
		.sort((a, b) => a.ts - b.ts);
}

/** A thread is gone when its root is deleted and it has no replies. */
export function threadExists(conversation: Conversation, threadTs: number): boolean {
	const root = conversation.messages.find((message) => message.ts === threadTs);
	if (root === undefined || root.threadTs !== undefined) {
		return false;
	}
	return !root.deleted || repliesIn(conversation, threadTs).length > 0;
}

export function cursorIn(conversation: Conversation, threadTs: number, user: string): number | undefined {
	return conversation.followers.get(threadTs)?.get(user);
}

function setCursor(conversation: Conversation, threadTs: number, user: string, ts: number): void {
	const followers = conversation.followers.get(threadTs) ?? new Map<string, number>();
	followers.set(user, ts);
	conversation.followers.set(threadTs, followers);
}

function followedCursor(conversation: Conversation, threadTs: number, user: string): number {
	const cursor = cursorIn(conversation, threadTs, user);
	if (cursor === undefined) {
		throw new Error(`${user} does not follow ${threadTs} in ${conversation.id}`);
	}
	return cursor;
}

/** { r in replies(t) : r.ts > thread_cursor(u,t), author(r) != u, r undeleted }; empty for users who do not follow. */
export function unreadReplies(conversation: Conversation, threadTs: number, user: string): Message[] {
	const cursor = cursorIn(conversation, threadTs, user);
	if (cursor === undefined) {
		return [];
	}
	return repliesIn(conversation, threadTs).filter((reply) => reply.ts > cursor && reply.author !== user);
}

/** { r in that same set : r names u }: channel-wide mentions never count in a thread. */
export function unreadNamingReplies(conversation: Conversation, threadTs: number, user: string): Message[] {
	return unreadReplies(conversation, threadTs, user).filter((reply) => reply.named.has(user));
}

/** Changes nothing if the user follows already, or is not a member. */
export function startFollowing(
	conversation: Conversation,
	threadTs: number,
	user: string,
	cursor: number,
): void {
	if (isMember(conversation, user) && cursorIn(conversation, threadTs, user) === undefined) {
		setCursor(conversation, threadTs, user, cursor);
	}
}

/** Without a given cursor a subscriber starts at the newest reply, or at the root if there is none. */
export function subscribe(
	conversation: Conversation,
	threadTs: number,
	user: string,
	lastRead: number | undefined,
): void {
	const newest = repliesIn(conversation, threadTs).at(-1)?.ts ?? threadTs;
	startFollowing(conversation, threadTs, user, lastRead ?? newest);
}

export function stopFollowing(conversation: Conversation, threadTs: number, user: string): void {
	conversation.followers.get(threadTs)?.delete(user);
}

export function stopFollowingAll(conversation: Conversation, user: string): void {
	for (const followers of conversation.followers.values()) {
		followers.delete(user);
	}
}

/** The root's author follows from the root on, before there is any reply. */
export function followOwnRoot(conversation: Conversation, root: Message): void {
	startFollowing(conversation, root.ts, root.author, root.ts);
}

/**
 * What a reply does to its author. `hadUnread` is computed just before the reply exists; an author who did not follow
 * starts at the reply.
 */
export function followOwnReply(
	conversation: Conversation,
	threadTs: number,
	reply: Message,
	hadUnread: boolean,
): void {
	const cursor = cursorIn(conversation, threadTs, reply.author);
	if (cursor === undefined) {
		startFollowing(conversation, threadTs, reply.author, reply.ts);
	} else if (!hadUnread) {
		setCursor(conversation, threadTs, reply.author, Math.max(cursor, reply.ts));
	}
}

/**
 * A named user follows from 1 µs before the reply, so that it is unread. Users who name themselves do not follow because of that.
 * An edit passes only the newly named users.
 */
export function followWhereNamed(
	conversation: Conversation,
	threadTs: number,
	reply: Message,
	named: Iterable<string>,
): void {
	for (const user of named) {
		if (user !== reply.author) startFollowing(conversation, threadTs, user, reply.ts - 1);
	}
}

/** Mark read to ts: never back, and a ts after the newest reply means that reply. */
export function markThreadRead(conversation: Conversation, threadTs: number, user: string, ts: number): void {
	const newest = Math.max(0, ...repliesIn(conversation, threadTs).map((reply) => reply.ts));
	const cursor = followedCursor(conversation, threadTs, user);
	setCursor(conversation, threadTs, user, Math.max(cursor, Math.min(ts, newest)));
}

/** Mark unread from a reply: to 1 µs before it, never forward. */
export function markThreadUnread(
	conversation: Conversation,
	threadTs: number,
	user: string,
	ts: number,
): void {
	const cursor = followedCursor(conversation, threadTs, user);
	setCursor(conversation, threadTs, user, Math.min(cursor, ts - 1));
}
