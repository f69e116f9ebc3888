import type { EntryRow, StateSource, UserReadState } from '../engine/ports/store.ts';
import { Activity } from '../model/activity.ts';
import { countUnread, type ShownCounts, shownCounts } from '../model/counting.ts';
import { isDirect } from '../model/ids.ts';
import { BROADCAST, CHANNEL_WIDE, type Entry, HERE, NAMES, Timeline } from '../model/timeline.ts';

/** Counts from the rows of the store alone, by the one definition: what anything that is served must be equal to. */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** The reader's number; everybody else's follow. */
const READER = 0;

/** What is compared of a conversation, or of a thread. */
export type Told = Pick<ShownCounts, 'unread' | 'mentions' | 'badge'>;

/** Null where the user is not in the conversation, or it counts no more. */
export async function recount(
	source: StateSource,
	user: string,
	conversation: string,
): Promise<ShownCounts | null> {
	const [state, starts, [brief]] = await Promise.all([
		source.user(user),
		source.starts(),
		source.briefs([conversation]),
	]);
	const membership = state.memberships.find((row) => row.conversation === conversation);
	if (!membership?.member || !brief || brief.archived) return null;
	const { cursor, muted } = membership;
	const rows = await source.timelineEntries(conversation, cursor, EVERYTHING, EVERYTHING);
	const counts = countUnread(timelineOf(rows, user, cursor), {
		number: READER,
		cursor,
		ahead: new Set(state.ahead.filter((row) => row.conversation === conversation).map(({ ts }) => ts)),
		activity: activityOf(state, starts),
	});
	return shownCounts(counts, { direct: isDirect(brief.kind), muted });
}

/** Null where the user does not follow the thread, or its conversation counts no more. */
export async function recountThread(
	source: StateSource,
	user: string,
	conversation: string,
	threadTs: number,
): Promise<Told | null> {
	const [state, [brief]] = await Promise.all([source.user(user), source.briefs([conversation])]);
	const follow = state.follows.find((row) => row.conversation === conversation && row.threadTs === threadTs);
	if (!follow || !brief || brief.archived) return null;
	const { cursor } = follow;
	const rows = await source.threadEntries(conversation, threadTs, EVERYTHING, EVERYTHING);
	const unread = rows.filter(({ ts }) => ts > cursor);
	const counts = countUnread(timelineOf(unread, user, cursor), {
		number: READER,
		cursor,
		ahead: new Set(),
		activity: activityOf(state, []),
	});
	return { unread: counts.unread, mentions: counts.named, badge: counts.namedInThreadOnly };
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
			flags:
				(row.channelWide ? CHANNEL_WIDE : 0) |
				(row.here ? HERE : 0) |
				(row.named.length > 0 ? NAMES : 0) |
				(row.broadcast ? BROADCAST : 0),
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
