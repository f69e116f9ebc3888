import type { EntryRow, MentioningEntries, StateSource, UserReadState } from '../engine/ports/store.ts';
import { Activity } from '../model/activity.ts';
import { COUNT_CAP, countUnread, type ShownCounts, shownCounts } from '../model/counting.ts';
import { isDirect } from '../model/ids.ts';
import { type Entry, flagsOf, Timeline } from '../model/timeline.ts';
import { ENTRIES_PER_STEP, type StoredEntries } from './stored-entries.ts';

/**
 * Computes counts from the rows of the store alone, by the definition in counting.ts; served counts must equal them.
 * Reads entries newest first, a few per turn of the event loop, and only as many as a count can show plus older mentions: a user
 * who is a million messages behind costs as much as one who is ten thousand behind.
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** The reader's number; other users get the numbers after it. */
const READER = 0;

/** The counts of a conversation or thread that are compared. */
export type ComparedCounts = Pick<ShownCounts, 'unread' | 'mentions' | 'badge'>;

/** What the store has about the user whose counts are computed. */
export interface StoredReader {
	readonly user: string;
	readonly state: UserReadState;
	readonly starts: readonly number[];
}

export async function storedReader(source: StateSource, user: string): Promise<StoredReader> {
	const [state, starts] = await Promise.all([source.user(user), source.starts()]);
	return { user, state, starts };
}

/** Null if the user is not a member, or the conversation is archived. */
export async function recount(
	source: StateSource,
	stored: StoredEntries,
	{ user, state, starts }: StoredReader,
	conversation: string,
): Promise<ShownCounts | null> {
	const membership = state.memberships.find((row) => row.conversation === conversation);
	const [brief] = await source.briefs([conversation]);
	if (!membership?.member || !brief || brief.archived) return null;
	const { cursor, muted } = membership;
	const ahead = new Set(state.ahead.filter((row) => row.conversation === conversation).map(({ ts }) => ts));
	const unread = (row: EntryRow) => row.user !== user && !ahead.has(row.ts);
	const { newestFirst, reached } = await newest(stored, conversation, cursor, unread);
	let entries = newestFirst;
	const activity = activityOf(state, starts);
	if (reached !== null) {
		const names = (row: EntryRow) => unread(row) && row.named.includes(user);
		const isToAll = (row: EntryRow) =>
			unread(row) && (row.channelWide || (row.here && activity.isActiveAt(row.ts)));
		entries = entries.concat(await mentions(stored, conversation, cursor, reached, { names, isToAll }));
	}
	const reader = { number: READER, cursor, ahead, activity };
	const counts = countUnread(timelineOf(entries.toReversed(), user, cursor), reader);
	return shownCounts(counts, { direct: isDirect(brief.kind), muted });
}

/** Null if the user does not follow the thread, or its conversation is archived. */
export async function recountThread(
	source: StateSource,
	stored: StoredEntries,
	{ user, state }: StoredReader,
	conversation: string,
	threadTs: number,
): Promise<ComparedCounts | null> {
	const follow = state.follows.find((row) => row.conversation === conversation && row.threadTs === threadTs);
	const [brief] = await source.briefs([conversation]);
	if (!follow || !brief || brief.archived) return null;
	const { cursor } = follow;
	const rows: EntryRow[] = [];
	// Thread counts have no cap: read every unread reply.
	for (let upTo = EVERYTHING; upTo > cursor; ) {
		const some = await stored.replies(conversation, threadTs, upTo);
		for (const row of some.toReversed()) if (row.ts > cursor) rows.push(row);
		upTo = some.length < ENTRIES_PER_STEP ? 0 : (some[0] as EntryRow).ts - 1;
	}
	const reader = { number: READER, cursor, ahead: new Set<number>(), activity: activityOf(state, []) };
	const counts = countUnread(timelineOf(rows.reverse(), user, cursor), reader, Number.POSITIVE_INFINITY);
	return { unread: counts.unread, mentions: counts.named, badge: counts.namedInThreadOnly };
}

/**
 * The newest entries after the cursor, until more of them are unread than a count shows. `reached`: entries at or before
 * this ts were not read; null if all were.
 */
async function newest(
	stored: StoredEntries,
	conversation: string,
	cursor: number,
	unread: (row: EntryRow) => boolean,
): Promise<{ newestFirst: EntryRow[]; reached: number | null }> {
	const newestFirst: EntryRow[] = [];
	let upTo = EVERYTHING;
	for (let found = 0; found <= COUNT_CAP; ) {
		const rows = await stored.timeline(conversation, cursor, upTo);
		for (let index = rows.length - 1; index >= 0; index -= 1) {
			const row = rows[index] as EntryRow;
			newestFirst.push(row);
			if (unread(row)) found += 1;
		}
		if (rows.length < ENTRIES_PER_STEP) return { newestFirst, reached: null };
		upTo = (rows[0] as EntryRow).ts - 1;
	}
	return { newestFirst, reached: upTo };
}

/**
 * Older entries that mention the reader, newest first: reads until it has more than `COUNT_CAP` that name the reader and more than
 * `COUNT_CAP` that mention all.
 */
async function mentions(
	stored: StoredEntries,
	conversation: string,
	cursor: number,
	from: number,
	{ names, isToAll }: Record<'names' | 'isToAll', (row: EntryRow) => boolean>,
): Promise<EntryRow[]> {
	const newestFirst: EntryRow[] = [];
	let named = 0;
	let toAll = 0;
	for (let upTo: number | null = from; upTo !== null && Math.min(named, toAll) <= COUNT_CAP; ) {
		const { entries, next }: MentioningEntries = await stored.mentioning(conversation, cursor, upTo);
		for (const row of entries.toReversed()) {
			const isNamed = names(row);
			const isMentionOfAll = isToAll(row);
			if (isNamed) named += 1;
			if (isMentionOfAll) toAll += 1;
			if (isNamed || isMentionOfAll) newestFirst.push(row);
		}
		upTo = next;
	}
	return newestFirst;
}

function timelineOf(rows: readonly EntryRow[], reader: string, floor: number): Timeline {
	const numbers = new Map([[reader, READER]]);
	const numberOf = (user: string): number => {
		const number = numbers.get(user) ?? numbers.size;
		numbers.set(user, number);
		return number;
	};
	const timeline = new Timeline(rows.at(-1)?.ts ?? 0);
	const entries = rows.map(
		(row): Entry => ({
			ts: row.ts,
			author: numberOf(row.user),
			flags: flagsOf(row),
			named: row.named.map(numberOf),
		}),
	);
	if (entries.length > 0) timeline.prepend(entries, floor);
	return timeline;
}

function activityOf(state: UserReadState, starts: readonly number[]): Activity {
	return new Activity(starts, state.activity);
}
