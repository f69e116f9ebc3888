import type { EntryRow, StateSource, UserReadState } from '../engine/ports/store.ts';
import { Activity } from '../model/activity.ts';
import { countUnread, type ShownCounts, shownCounts } from '../model/counting.ts';
import { isDirect } from '../model/ids.ts';
import { BROADCAST, CHANNEL_WIDE, type Entry, HERE, NAMES, Timeline } from '../model/timeline.ts';

/** Counts from the rows of the store alone, by the one definition: what anything that is served must be equal to. */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** The reader's number; everybody else's follow. */
const READER = 0;

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
