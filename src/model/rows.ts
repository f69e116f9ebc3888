import {
	type CountRules,
	type Counts,
	countUnread,
	type Reason,
	reasonsInBadge,
	type ShownCounts,
	shownCounts,
	showsUnread,
	unreadEntries,
	unreadMentioning,
	unreadTs,
} from './counting.ts';
import { type ConversationKind, isDirect } from './ids.ts';
import {
	type ConversationView,
	type FollowerPosition,
	type MemberPosition,
	type MembershipView,
	type NotificationLevel,
	readerOf,
} from './views.ts';

/** Counts of views that are loaded as far back as the cursor. Pure; the definition of each count is counting.ts. */

/** What a count is true at: stamps of the newest change of the conversation, and of the user's read state. */
export interface RowPosition {
	readonly conversation: number;
	readonly user: number;
}

/** The counts of one user in one conversation, and what they are true at. */
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
	/** What this thread adds to the badge: mentions in replies that are in the thread alone. */
	readonly badge: number;
	/** Newest reply; 0 for none. */
	readonly latestReply: number;
	readonly position: RowPosition;
}

export interface UnreadItem {
	readonly conversation: string;
	readonly ts: number;
	/** The thread, when it is unread there and not in the conversation. */
	readonly threadTs: number | null;
	/** Why it is in the badge; empty when it is not. */
	readonly reasons: readonly Reason[];
}

/** Counts of threads are exact however large they are. */
const ALL = Number.POSITIVE_INFINITY;
const NO_TS = new Float64Array(0);
const NOTHING: Counts = { unread: 0, mentions: 0, named: 0, namedInThreadOnly: 0 };
/** The same in every standing. */
const NOTHING_SHOWN = shownCounts(NOTHING, { direct: false, muted: false });

type Open<T> = { -readonly [Field in keyof T]: T[Field] };
/** A row that can be filled again. */
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

export function countRow(place: MemberPosition): CountRow {
	const row = emptyRow();
	fillRow(row, place);
	return row;
}

/** Field by field: there may be a hundred thousand of these, and spreading objects costs three times as much. */
export function fillRow(row: OpenRow, place: MemberPosition): void {
	const { user, conversation, membership } = place;
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
	const shown = nothing ? NOTHING_SHOWN : shownIn(place);
	row.unread = shown.unread;
	row.unreadDisplay = shown.unreadDisplay;
	row.mentions = shown.mentions;
	row.badge = shown.badge;
	row.capped = shown.capped;
}

const readerAt = ({ user, membership }: MemberPosition) =>
	readerOf(user, membership.cursor, membership.ahead);

const shownIn = (place: MemberPosition): ShownCounts =>
	shownCounts(
		countUnread(place.conversation.timeline, readerAt(place)),
		countRulesOf(place.conversation, place.membership),
	);

/** Whether an inbox with the unread ones first has it there: muting hides all but what names the user. */
export function isShownUnread(place: MemberPosition): boolean {
	const { archived, timeline } = place.conversation;
	if (archived || timeline.latest <= place.membership.cursor) return false;
	return showsUnread(timeline, readerAt(place), place.membership.muted);
}

const countRulesOf = (conversation: ConversationView, membership: MembershipView): CountRules => ({
	direct: isDirect(conversation.kind),
	muted: membership.muted,
});

export function threadRow({ user, conversation, threadTs, thread, follow }: FollowerPosition): ThreadRow {
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

/** With `only`, those that are in the badge: of a channel that is what mentions somebody, and nothing else is looked at. */
export function unreadInConversation(place: MemberPosition, only?: 'in badge'): UnreadItem[] {
	const { conversation, membership } = place;
	if (conversation.archived) return [];
	const rules = countRulesOf(conversation, membership);
	const items: UnreadItem[] = [];
	const walk = only && (!rules.direct || rules.muted) ? unreadMentioning : unreadEntries;
	for (const entry of walk(conversation.timeline, readerAt(place))) {
		const reasons = reasonsInBadge(entry, rules);
		if (only && reasons.length === 0) continue;
		items.push({ conversation: conversation.id, ts: entry.ts, threadTs: null, reasons });
	}
	return items;
}

/** ts of the unread messages alone, ascending: there may be a million. */
export const unreadTsIn = (place: MemberPosition): Float64Array =>
	place.conversation.archived ? NO_TS : unreadTs(place.conversation.timeline, readerAt(place));

export function unreadInThread(
	{ user, conversation, threadTs, thread, follow }: FollowerPosition,
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
