import { BROADCAST, CHANNEL_WIDE, firstAtOrAfter, HERE, type Timeline } from './timeline.ts';

/**
 * The definition of every count, in one place. A count is computed by visiting the unread entries of a timeline; badge,
 * rows, lists and explanations visit the same entries.
 */

/** Counts are exact up to this number; a larger count is this number, flagged as capped. */
export const COUNT_CAP = 10_000;

/** What a user has read of a timeline. */
export interface ReaderCursor {
	/** The reader's number in the timeline's numbering. */
	readonly number: number;
	readonly cursor: number;
	/** Messages of others after the cursor that the user has already read. */
	readonly ahead: ReadonlySet<number>;
}

/** The user whose unread messages are counted. */
export interface Reader extends ReaderCursor {
	/** Whether the reader was active (connected and not away) at a ts. */
	readonly activity: { isActiveAt(ts: number): boolean };
}

export interface UnreadEntry {
	readonly index: number;
	readonly ts: number;
	/** The message names the reader. */
	readonly named: boolean;
	/** The message mentions all members, or active members while the reader was active. */
	readonly toAll: boolean;
	readonly broadcast: boolean;
}

/** The unread entries of a timeline for this reader, oldest first. */
export function* unreadEntries(timeline: Timeline, reader: Reader): Generator<UnreadEntry> {
	for (let index = timeline.firstAfter(reader.cursor); index < timeline.size; index += 1) {
		if (isUnread(timeline, reader, index)) yield describe(timeline, reader, index);
	}
}

/** ts of the unread entries, ascending, without further fields: there can be a million. */
export function unreadTs(timeline: Timeline, reader: Reader): Float64Array {
	const first = timeline.firstAfter(reader.cursor);
	const found = new Float64Array(timeline.size - first);
	let size = 0;
	for (let index = first; index < timeline.size; index += 1) {
		if (!isUnread(timeline, reader, index)) continue;
		found[size] = timeline.tsAt(index);
		size += 1;
	}
	return found.subarray(0, size);
}

/** Unread entries with a mention, of the reader or of others; oldest first. */
export function* unreadMentioning(timeline: Timeline, reader: Reader): Generator<UnreadEntry> {
	const { mentioning } = timeline;
	for (let at = firstAtOrAfter(mentioning, reader.cursor + 1); at < mentioning.length; at += 1) {
		const index = timeline.indexOf(mentioning[at] as number);
		if (isUnread(timeline, reader, index)) yield describe(timeline, reader, index);
	}
}

export interface Counts {
	unread: number;
	/** Unread messages that mention the reader: by name, or by mentioning everybody. */
	mentions: number;
	/** Unread messages that name the reader. */
	named: number;
	/** In the timeline of a thread: unread replies that name the reader and are not broadcast. */
	namedInThreadOnly: number;
}

/**
 * Counts the unread entries from the newest back and stops beyond `limit`, because clients show no larger number.
 * Of the older entries it visits only those that may mention the reader, until the mentions exceed `limit` too.
 */
export function countUnread(timeline: Timeline, reader: Reader, limit = COUNT_CAP): Counts {
	const counts: Counts = { unread: 0, mentions: 0, named: 0, namedInThreadOnly: 0 };
	const first = timeline.firstAfter(reader.cursor);
	let index = timeline.size - 1;
	for (; index >= first && counts.unread <= limit; index -= 1) {
		if (!isUnread(timeline, reader, index)) continue;
		counts.unread += 1;
		// Most messages have no flags: they mention nobody.
		if (timeline.flagsAt(index) !== 0) countMention(counts, describe(timeline, reader, index));
	}
	if (index < first) return counts;
	const { named, toAll } = timeline.mentionsOf(reader.number);
	const before = timeline.tsAt(index + 1);
	for (const at of older(timeline, reader, named, before)) {
		countMention(counts, describe(timeline, reader, at));
		if (counts.named > limit) return counts;
	}
	for (const at of older(timeline, reader, toAll, before)) {
		// Messages that also name the reader were counted above.
		if (!timeline.namedAt(at).includes(reader.number)) countMention(counts, describe(timeline, reader, at));
		if (counts.mentions > limit) return counts;
	}
	return counts;
}

/** Timeline indices of the unread entries among the ts in `ascending`: only after the cursor and before `before`, newest first. */
function* older(timeline: Timeline, reader: Reader, ascending: readonly number[], before: number) {
	const oldest = firstAtOrAfter(ascending, reader.cursor + 1);
	for (let at = firstAtOrAfter(ascending, before) - 1; at >= oldest; at -= 1) {
		const index = timeline.indexOf(ascending[at] as number);
		if (isUnread(timeline, reader, index)) yield index;
	}
}

function countMention(counts: Counts, { named, toAll, broadcast }: UnreadEntry): void {
	if (named || toAll) counts.mentions += 1;
	if (!named) return;
	counts.named += 1;
	if (!broadcast) counts.namedInThreadOnly += 1;
}

/** Whether a sidebar shows the conversation as unread. A muted conversation is shown as unread only for messages that name the reader. */
export function isShownAsUnread(timeline: Timeline, reader: Reader, muted: boolean): boolean {
	if (!muted) return hasUnread(timeline, reader);
	const { mentioning } = timeline;
	for (let at = mentioning.length - 1; at >= 0; at -= 1) {
		const ts = mentioning[at] as number;
		if (ts <= reader.cursor) return false;
		const index = timeline.indexOf(ts);
		if (timeline.namedAt(index).includes(reader.number) && isUnread(timeline, reader, index)) return true;
	}
	return false;
}

/** Whether any entry before `before` is unread. Searches from the newest back; usually the newest entry decides. */
export function hasUnread(
	timeline: Timeline,
	reader: ReaderCursor,
	before = Number.POSITIVE_INFINITY,
): boolean {
	const end = before === Number.POSITIVE_INFINITY ? timeline.size : timeline.firstAfter(before - 1);
	for (let index = end - 1; index >= 0 && timeline.tsAt(index) > reader.cursor; index -= 1) {
		if (isUnread(timeline, reader, index)) return true;
	}
	return false;
}

/**
 * Whether the reader had read everything before their own message, posted at `ts`; if so, posting it moves their cursor to it.
 * Undefined: unknown until older entries are loaded. Usually one of the newest entries decides.
 */
export function isCaughtUp(timeline: Timeline, reader: ReaderCursor, ts: number): boolean | undefined {
	if (reader.cursor > ts || hasUnread(timeline, reader, ts)) return false;
	return timeline.floor <= reader.cursor ? true : undefined;
}

function isUnread(timeline: Timeline, reader: ReaderCursor, index: number): boolean {
	return timeline.authorAt(index) !== reader.number && !reader.ahead.has(timeline.tsAt(index));
}

function describe(timeline: Timeline, reader: Reader, index: number): UnreadEntry {
	const ts = timeline.tsAt(index);
	const flags = timeline.flagsAt(index);
	return {
		index,
		ts,
		named: timeline.namedAt(index).includes(reader.number),
		toAll: (flags & CHANNEL_WIDE) !== 0 || ((flags & HERE) !== 0 && reader.activity.isActiveAt(ts)),
		broadcast: (flags & BROADCAST) !== 0,
	};
}

/** Properties of a conversation that decide how its messages count. */
export interface CountRules {
	/** A direct or group message: every message counts as a mention. */
	readonly direct: boolean;
	readonly muted: boolean;
}

export interface ShownCounts {
	readonly unread: number;
	readonly unreadDisplay: number;
	readonly mentions: number;
	/** What this conversation adds to the badge. */
	readonly badge: number;
	readonly capped: boolean;
}

const cap = (count: number): number => Math.min(count, COUNT_CAP);

export function shownCounts(counts: Counts, rules: CountRules): ShownCounts {
	const unread = cap(counts.unread);
	const mentions = cap(rules.direct ? counts.unread : counts.mentions);
	return {
		unread,
		unreadDisplay: rules.muted ? 0 : unread,
		mentions,
		badge: rules.muted ? cap(counts.named) : mentions,
		capped: counts.unread > COUNT_CAP,
	};
}

export type Reason = 'dm' | 'direct_mention' | 'channel_mention' | 'thread_mention';

/** Why an unread entry of a conversation is in the badge; empty when it is not. */
export function reasonsInBadge(entry: UnreadEntry, rules: CountRules): Reason[] {
	const inBadge = entry.named || (!rules.muted && (rules.direct || entry.toAll));
	if (!inBadge) return [];
	const reasons: Reason[] = [];
	if (rules.direct) reasons.push('dm');
	if (entry.named) reasons.push('direct_mention');
	if (entry.toAll && !rules.muted) reasons.push('channel_mention');
	return reasons;
}
