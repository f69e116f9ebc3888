import {
	type Counts,
	countUnread,
	reasonsInBadge,
	type Standing,
	shownCounts,
	unreadEntries,
} from '../../../model/counting.ts';
import { isDirect } from '../../../model/ids.ts';
import type { Timeline } from '../../../model/timeline.ts';
import type { CountRow, ThreadRow, UnreadItem } from '../../ports/read-state.ts';
import { readerOf } from './application.ts';
import type { LoadedConversation, LoadedFollow, LoadedUser } from './loaded.ts';
import type { Membership } from './memberships.ts';

/** Counts of what is loaded. Synchronous and without effect: the definition itself is model/counting.ts. */

const NOTHING: Counts = { unread: 0, mentions: 0, named: 0, namedInThreadOnly: 0 };

const standingOf = (conversation: LoadedConversation, membership: Membership): Standing => ({
	direct: isDirect(conversation.kind),
	muted: membership.muted,
});

export function countRow(
	user: LoadedUser,
	conversation: LoadedConversation,
	membership: Membership,
): CountRow {
	const { timeline } = conversation;
	const nothing = conversation.archived || timeline.latest <= membership.cursor;
	const reader = () => readerOf(user, membership.cursor, user.ahead.get(conversation.number));
	const counts = nothing ? NOTHING : countUnread(timeline, reader());
	const shown = shownCounts(counts, standingOf(conversation, membership));
	// Field by field: there may be a hundred thousand of these, and spreading objects costs three times as much.
	return {
		conversation: conversation.id,
		kind: conversation.kind,
		latest: timeline.latest,
		lastRead: membership.cursor,
		revision: membership.revision,
		muted: membership.muted,
		level: membership.level,
		position: { conversation: conversation.stamp, user: user.stamp },
		unread: shown.unread,
		unreadDisplay: shown.unreadDisplay,
		mentions: shown.mentions,
		badge: shown.badge,
		capped: shown.capped,
	};
}

export function threadRow(
	user: LoadedUser,
	conversation: LoadedConversation,
	threadTs: number,
	thread: Timeline,
	follow: LoadedFollow,
): ThreadRow {
	const counts = conversation.archived ? NOTHING : countUnread(thread, readerOf(user, follow.cursor));
	return {
		conversation: conversation.id,
		threadTs,
		lastRead: follow.cursor,
		since: follow.since,
		unread: counts.unread,
		mentions: counts.named,
		badge: counts.namedInThreadOnly,
		latestReply: thread.latest,
		position: { conversation: conversation.stamp, user: user.stamp },
	};
}

export function unreadInConversation(
	user: LoadedUser,
	conversation: LoadedConversation,
	membership: Membership,
): UnreadItem[] {
	if (conversation.archived) return [];
	const reader = readerOf(user, membership.cursor, user.ahead.get(conversation.number));
	const standing = standingOf(conversation, membership);
	const items: UnreadItem[] = [];
	for (const entry of unreadEntries(conversation.timeline, reader)) {
		const reasons = reasonsInBadge(entry, standing);
		items.push({ conversation: conversation.id, ts: entry.ts, threadTs: null, reasons });
	}
	return items;
}

export function unreadInThread(
	user: LoadedUser,
	conversation: LoadedConversation,
	threadTs: number,
	thread: Timeline,
	follow: LoadedFollow,
): UnreadItem[] {
	const items: UnreadItem[] = [];
	for (const entry of unreadEntries(thread, readerOf(user, follow.cursor))) {
		// Broadcast replies count in the conversation.
		const inBadge = entry.named && !entry.broadcast;
		const reasons = inBadge ? (['thread_mention'] as const) : [];
		items.push({ conversation: conversation.id, ts: entry.ts, threadTs, reasons });
	}
	return items;
}
