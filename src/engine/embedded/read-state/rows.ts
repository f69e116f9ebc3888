import {
	type Counts,
	countUnread,
	reasonsInBadge,
	type ShownCounts,
	type Standing,
	shownCounts,
	unreadEntries,
} from '../../../model/counting.ts';
import { isDirect } from '../../../model/ids.ts';
import type { Timeline } from '../../../model/timeline.ts';
import type { CountRow, RowPosition, ThreadRow, UnreadItem } from '../../ports/read-state.ts';
import { readerOf } from './application.ts';
import type { LoadedConversation, LoadedFollow, LoadedUser } from './loaded.ts';
import type { Membership } from './memberships.ts';

/** Counts of what is loaded. Synchronous and without effect: the definition itself is model/counting.ts. */

/** Counts of threads are exact however large they are. */
const ALL = Number.POSITIVE_INFINITY;
const NOTHING: Counts = { unread: 0, mentions: 0, named: 0, namedInThreadOnly: 0 };
/** The same in every standing. */
const NOTHING_SHOWN = shownCounts(NOTHING, { direct: false, muted: false });

type Open<T> = { -readonly [Field in keyof T]: T[Field] };
/** A row that can be filled anew. */
type OpenRow = Open<Omit<CountRow, 'position'>> & { readonly position: Open<RowPosition> };

export const emptyRow = (): OpenRow => ({
	conversation: '',
	kind: 'public',
	latest: 0,
	lastRead: 0,
	revision: 0,
	muted: false,
	level: 'all',
	position: { conversation: 0, user: 0 },
	...NOTHING_SHOWN,
});

export function countRow(
	user: LoadedUser,
	conversation: LoadedConversation,
	membership: Membership,
): CountRow {
	const row = emptyRow();
	fillRow(row, user, conversation, membership);
	return row;
}

/** Field by field: there may be a hundred thousand of these, and spreading objects costs three times as much. */
export function fillRow(
	row: OpenRow,
	user: LoadedUser,
	conversation: LoadedConversation,
	membership: Membership,
): void {
	const { timeline } = conversation;
	row.conversation = conversation.id;
	row.kind = conversation.kind;
	row.latest = timeline.latest;
	row.lastRead = membership.cursor;
	row.revision = membership.revision;
	row.muted = membership.muted;
	row.level = membership.level;
	row.position.conversation = conversation.stamp;
	row.position.user = user.stamp;
	const nothing = conversation.archived || timeline.latest <= membership.cursor;
	const shown = nothing ? NOTHING_SHOWN : shownIn(user, conversation, membership);
	row.unread = shown.unread;
	row.unreadDisplay = shown.unreadDisplay;
	row.mentions = shown.mentions;
	row.badge = shown.badge;
	row.capped = shown.capped;
}

function shownIn(user: LoadedUser, conversation: LoadedConversation, membership: Membership): ShownCounts {
	const reader = readerOf(user, membership.cursor, user.ahead.get(conversation.number));
	return shownCounts(countUnread(conversation.timeline, reader), standingOf(conversation, membership));
}

const standingOf = (conversation: LoadedConversation, membership: Membership): Standing => ({
	direct: isDirect(conversation.kind),
	muted: membership.muted,
});

export function threadRow(
	user: LoadedUser,
	conversation: LoadedConversation,
	threadTs: number,
	thread: Timeline,
	follow: LoadedFollow,
): ThreadRow {
	const counts = conversation.archived ? NOTHING : countUnread(thread, readerOf(user, follow.cursor), ALL);
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
