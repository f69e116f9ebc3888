import type { EntryRow, StateSource, UserReadState } from '../engine/ports/store.ts';
import { Activity } from '../model/activity.ts';
import { COUNT_CAP, countUnread, type ShownCounts, shownCounts } from '../model/counting.ts';
import { isDirect } from '../model/ids.ts';
import { type Entry, flagsOf, Timeline } from '../model/timeline.ts';
import type { Pace } from './pace.ts';

/**
 * Counts from the rows of the store alone, by the one definition: what anything that is served must be equal to. Rows are
 * read newest first, a few in each turn, and no more than a count can show, with the mentions before them: a user who is
 * a million messages behind costs as much as one who is ten thousand behind.
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** Rows read in one turn of the event loop. */
export const ROWS_A_TURN = 500;
/** The reader's number; everybody else's follow. */
const READER = 0;

/** What is compared of a conversation, or of a thread. */
export type Told = Pick<ShownCounts, 'unread' | 'mentions' | 'badge'>;

/** The store's rows of the user whose counts these are. */
export interface StoredReader {
	readonly user: string;
	readonly state: UserReadState;
	readonly starts: readonly number[];
}

export async function storedReader(source: StateSource, user: string): Promise<StoredReader> {
	const [state, starts] = await Promise.all([source.user(user), source.starts()]);
	return { user, state, starts };
}

/** Null where the user is not in the conversation, or it counts no more. */
export async function recount(
	source: StateSource,
	{ user, state, starts }: StoredReader,
	conversation: string,
	pace: Pace,
): Promise<ShownCounts | null> {
	const membership = state.memberships.find((row) => row.conversation === conversation);
	const [brief] = await source.briefs([conversation]);
	if (!membership?.member || !brief || brief.archived) return null;
	const { cursor, muted } = membership;
	const ahead = new Set(state.ahead.filter((row) => row.conversation === conversation).map(({ ts }) => ts));
	const rows = new Map<number, EntryRow>();
	const unread = (row: EntryRow) => row.user !== user && !ahead.has(row.ts);
	const take = (row: EntryRow) => rows.set(row.ts, row);
	const newest = (upTo: number) => source.timelineEntries(conversation, cursor, upTo, ROWS_A_TURN);
	const reached = await newestFirst(pace, newest, EVERYTHING, take, unread);
	const activity = activityOf(state, starts);
	if (reached !== null)
		for (const named of [user, null]) {
			const mentions = (upTo: number) =>
				source.mentioningEntries(conversation, named, cursor, upTo, ROWS_A_TURN);
			const mentionsUser = (row: EntryRow) =>
				unread(row) && (named !== null || row.channelWide || activity.isActiveAt(row.ts));
			await newestFirst(pace, mentions, reached, take, mentionsUser);
		}
	const ascending = [...rows.values()].sort((a, b) => a.ts - b.ts);
	const reader = { number: READER, cursor, ahead, activity };
	const counts = countUnread(timelineOf(ascending, user, cursor), reader);
	return shownCounts(counts, { direct: isDirect(brief.kind), muted });
}

/** Null where the user does not follow the thread, or its conversation counts no more. */
export async function recountThread(
	source: StateSource,
	{ user, state }: StoredReader,
	conversation: string,
	threadTs: number,
	pace: Pace,
): Promise<Told | null> {
	const follow = state.follows.find((row) => row.conversation === conversation && row.threadTs === threadTs);
	const [brief] = await source.briefs([conversation]);
	if (!follow || !brief || brief.archived) return null;
	const { cursor } = follow;
	const rows: EntryRow[] = [];
	// Counts of threads are exact: every unread reply is read.
	for (let upTo = EVERYTHING; upTo > cursor; ) {
		await pace.turn();
		const some = await source.threadEntries(conversation, threadTs, upTo, ROWS_A_TURN);
		for (const row of some.toReversed()) if (row.ts > cursor) rows.push(row);
		upTo = some.length < ROWS_A_TURN ? 0 : (some[0] as EntryRow).ts - 1;
	}
	const reader = { number: READER, cursor, ahead: new Set<number>(), activity: activityOf(state, []) };
	const counts = countUnread(timelineOf(rows.reverse(), user, cursor), reader, Number.POSITIVE_INFINITY);
	return { unread: counts.unread, mentions: counts.named, badge: counts.namedInThreadOnly };
}

/** Goes back until more than a count shows is found: answers where it stopped, or null at the end. */
async function newestFirst(
	pace: Pace,
	read: (upTo: number) => Promise<readonly EntryRow[]>,
	from: number,
	take: (row: EntryRow) => void,
	counts: (row: EntryRow) => boolean,
): Promise<number | null> {
	let upTo = from;
	for (let found = 0; found <= COUNT_CAP; ) {
		await pace.turn();
		const rows = await read(upTo);
		for (const row of rows) {
			take(row);
			if (counts(row)) found += 1;
		}
		if (rows.length < ROWS_A_TURN) return null;
		upTo = (rows[0] as EntryRow).ts - 1;
	}
	return upTo;
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
	const activity = new Activity(starts);
	for (const { at, active } of state.activity) activity.add(at, active);
	return activity;
}
