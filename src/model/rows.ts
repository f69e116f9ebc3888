import {
	type CountRules,
	type Counts,
	countUnread,
	isShownAsUnread,
	type Reason,
	reasonsInBadge,
	type ShownCounts,
	shownCounts,
	unreadEntries,
	unreadMentioning,
	unreadTs,
} from './counting.ts';
import { type ConversationKind, isDirect } from './ids.ts';
import {
	type ConversationView,
	type FollowerContext,
	type MemberContext,
	type MembershipView,
	type NotificationLevel,
	readerOf,
} from './views.ts';

/** Computes rows from views that are loaded back to the cursor. Pure; counting.ts defines the counts. */

/** The position of a row: stamps of the newest change of the conversation and of the user's read state. */
export interface RowPosition {
	readonly conversation: number;
	readonly user: number;
}

/** The counts of one user in one conversation, with their position. */
export interface CountRow extends ShownCounts {
	readonly conversation: string;
	readonly kind: ConversationKind;
	/** Newest timeline ts; 0 for none. */
	readonly latest: number;
	readonly lastRead: number;
	readonly revision: number;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	readonly position: RowPosition;
}

export interface ThreadRow {
	readonly conversation: string;
	readonly threadTs: number;
	readonly lastRead: number;
	/** Stamp of when following began. */
	readonly since: number;
	readonly unread: number;
	readonly mentions: number;
	/** What this thread adds to the badge: mentions in replies that are not broadcast. */
	readonly badge: number;
	/** Newest reply; 0 for none. */
	readonly latestReply: number;
	readonly position: RowPosition;
}

export interface UnreadItem {
	readonly conversation: string;
	readonly ts: number;
	/** The thread, if the message is listed because it is unread there; null: because it is unread in the conversation. */
	readonly threadTs: number | null;
	/** Why the message is in the badge; empty if it is not. */
	readonly reasons: readonly Reason[];
}

/** Thread counts have no cap. */
const ALL = Number.POSITIVE_INFINITY;
const NO_TS = new Float64Array(0);
const NOTHING: Counts = { unread: 0, mentions: 0, named: 0, namedInThreadOnly: 0 };
/** Zero counts are the same for every type of conversation, muted or not. */
const NOTHING_SHOWN = shownCounts(NOTHING, { direct: false, muted: false });

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };
/** A row that can be reused. */
type MutableRow = Mutable<Omit<CountRow, 'position'>> & { readonly position: Mutable<RowPosition> };

export const emptyRow = (): MutableRow => ({
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

export function countRow(member: MemberContext): CountRow {
	const row = emptyRow();
	fillRow(row, member);
	return row;
}

/** Assigns field by field: there can be a hundred thousand rows, and spreading objects costs three times as much. */
export function fillRow(row: MutableRow, member: MemberContext): void {
	const { user, conversation, membership } = member;
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
	const shown = nothing ? NOTHING_SHOWN : shownIn(member);
	row.unread = shown.unread;
	row.unreadDisplay = shown.unreadDisplay;
	row.mentions = shown.mentions;
	row.badge = shown.badge;
	row.capped = shown.capped;
}

const readerAt = ({ user, membership }: MemberContext) => readerOf(user, membership.cursor, membership.ahead);

const shownIn = (member: MemberContext): ShownCounts =>
	shownCounts(
		countUnread(member.conversation.timeline, readerAt(member)),
		countRulesOf(member.conversation, member.membership),
	);

/** Whether an unread-first inbox lists the conversation as unread; a muted conversation only if an unread message names the user. */
export function isListedAsUnread(member: MemberContext): boolean {
	const { archived, timeline } = member.conversation;
	if (archived || timeline.latest <= member.membership.cursor) return false;
	return isShownAsUnread(timeline, readerAt(member), member.membership.muted);
}

const countRulesOf = (conversation: ConversationView, membership: MembershipView): CountRules => ({
	direct: isDirect(conversation.kind),
	muted: membership.muted,
});

export function threadRow({ user, conversation, threadTs, thread, follow }: FollowerContext): ThreadRow {
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

/**
 * With `only`, returns only the messages in the badge. In a channel, and in a muted direct message, all of these mention
 * somebody, so other messages are not visited.
 */
export function unreadInConversation(member: MemberContext, only?: 'in badge'): UnreadItem[] {
	const { conversation, membership } = member;
	if (conversation.archived) return [];
	const rules = countRulesOf(conversation, membership);
	const items: UnreadItem[] = [];
	const walk = only && (!rules.direct || rules.muted) ? unreadMentioning : unreadEntries;
	for (const entry of walk(conversation.timeline, readerAt(member))) {
		const reasons = reasonsInBadge(entry, rules);
		if (only && reasons.length === 0) continue;
		items.push({ conversation: conversation.id, ts: entry.ts, threadTs: null, reasons });
	}
	return items;
}

/** ts of the unread messages, ascending, without further fields: there can be a million. */
export const unreadTsIn = (member: MemberContext): Float64Array =>
	member.conversation.archived ? NO_TS : unreadTs(member.conversation.timeline, readerAt(member));

export function unreadInThread(
	{ user, conversation, threadTs, thread, follow }: FollowerContext,
	only?: 'in badge',
): UnreadItem[] {
	const items: UnreadItem[] = [];
	const walk = only ? unreadMentioning : unreadEntries;
	for (const entry of walk(thread, readerOf(user, follow.cursor))) {
		// Broadcast replies count in the conversation.
		const inBadge = entry.named && !entry.broadcast;
		if (only && !inBadge) continue;
		const reasons = inBadge ? (['thread_mention'] as const) : [];
		items.push({ conversation: conversation.id, ts: entry.ts, threadTs, reasons });
	}
	return items;
}
