import { COUNT_CAP } from '../../../../model/counting.ts';
import type { EntryRow, StateSource } from '../../../ports/store.ts';
import { packEntry } from './packing.ts';

/**
 * What lies further back in a timeline than Redis keeps, from the store: nothing of it is loaded. As many entries as a count
 * can tell of, and of those before them what mentions the reader. So a count of who is a million messages behind is as
 * exact as any other, and costs no more than what it can show.
 */

export interface FarReader {
	readonly user: string;
	readonly cursor: number;
	readonly ahead?: ReadonlySet<number>;
	readonly activeAt: (ts: number) => boolean;
}

/** Entries by ts. */
export interface FarEntries {
	readonly entries: Map<number, string>;
	/** Up to here none is missing that was asked for; later ones were not looked at. */
	readonly upTo: number;
	/** None is left out. */
	readonly whole: boolean;
}

const PIECE = 4_096;
/** Twice what is told, because some of them may be deleted and the store not know it yet. */
const MOST_MENTIONS = 2 * COUNT_CAP;

/** Everything between two ts. */
export async function allBetween(
	source: StateSource,
	conversation: string,
	after: number,
	upTo: number,
): Promise<FarEntries> {
	const entries = new Map<number, string>();
	await newestFirst(
		(high) => source.timelineEntries(conversation, after, high, PIECE),
		upTo,
		(row) => put(entries, row),
		() => false,
	);
	return { entries, upTo, whole: true };
}

/** The first ones after a ts. */
export async function firstAfter(
	source: StateSource,
	conversation: string,
	after: number,
	upTo: number,
	count: number,
): Promise<FarEntries> {
	const rows = await source.oldestEntries(conversation, after, upTo, count);
	const whole = rows.length < count;
	const entries = new Map<number, string>();
	for (const row of rows) put(entries, row);
	return { entries, upTo: whole ? upTo : (rows.at(-1)?.ts ?? upTo), whole };
}

/** The newest entries, so many of them unread; and of those before them, what may mention the reader. */
export async function unreadBetween(
	source: StateSource,
	conversation: string,
	reader: FarReader,
	upTo: number,
	wanted: number,
): Promise<FarEntries> {
	const { user, cursor, ahead } = reader;
	const entries = new Map<number, string>();
	const isUnread = (row: EntryRow) => row.user !== user && !ahead?.has(row.ts);
	let unread = 0;
	const reached = await newestFirst(
		(high) => source.timelineEntries(conversation, cursor, high, PIECE),
		upTo,
		(row) => {
			put(entries, row);
			if (isUnread(row)) unread += 1;
		},
		() => unread >= wanted,
	);
	if (reached === null) return { entries, upTo, whole: true };
	for (const named of [user, null]) {
		let mentions = 0;
		await newestFirst(
			(high) => source.mentioningEntries(conversation, named, cursor, high, PIECE),
			reached,
			(row) => {
				put(entries, row);
				const counts = named !== null || row.channelWide || reader.activeAt(row.ts);
				if (counts && isUnread(row)) mentions += 1;
			},
			() => mentions >= MOST_MENTIONS,
		);
	}
	return { entries, upTo, whole: false };
}

/** Goes back piece by piece. Answers where it stopped, or null when it came to the end. */
async function newestFirst(
	read: (upTo: number) => Promise<readonly EntryRow[]>,
	upTo: number,
	take: (row: EntryRow) => void,
	isEnough: () => boolean,
): Promise<number | null> {
	let high = upTo;
	while (!isEnough()) {
		const rows = await read(high);
		for (const row of rows) take(row);
		if (rows.length < PIECE) return null;
		high = (rows[0]?.ts ?? 1) - 1;
	}
	return high;
}

const put = (entries: Map<number, string>, row: EntryRow): void => {
	entries.set(row.ts, packEntry(row));
};

/** With what changed there since: of that the store may not know yet. An empty entry is none any more. */
export function withChanges(
	{ entries, upTo }: FarEntries,
	changes: readonly string[],
	after: number,
): string[] {
	for (let index = 0; index + 1 < changes.length; index += 2) {
		const ts = Number(changes[index]);
		if (ts <= after || ts > upTo) continue;
		const entry = changes[index + 1] as string;
		if (entry === '') entries.delete(ts);
		else entries.set(ts, entry);
	}
	return [...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry);
}
