import type { Timeline } from './timeline.ts';

/**
 * How read positions move: pure functions from a cursor and a mark to a cursor. Marks are a merge: the
 * highest wins, in any order, any number of times; only a higher revision takes one back.
 */

export interface Cursor {
	/** Everything at or before this ts is read. */
	readonly ts: number;
	/** Rises with each mark-unread; a mark that carries an older one is void. */
	readonly revision: number;
	/** Messages of others after the cursor that were read all the same. Own messages always count as read. */
	readonly ahead: ReadonlySet<number>;
}

export type Mark =
	| { readonly type: 'read'; readonly ts: number; readonly revision?: number | undefined }
	| { readonly type: 'unread'; readonly ts: number }
	| { readonly type: 'message'; readonly ts: number; readonly revision?: number | undefined };

export interface Marked {
	readonly cursor: Cursor;
	/** The mark carried a revision older than the cursor's. */
	readonly ignored: boolean;
}

export function applyMark(cursor: Cursor, mark: Mark, timeline: Timeline, reader: number): Marked {
	const outdated = mark.type !== 'unread' && mark.revision !== undefined && mark.revision < cursor.revision;
	if (outdated) return { cursor, ignored: true };
	switch (mark.type) {
		case 'read':
			return { cursor: readUpTo(cursor, mark.ts, timeline), ignored: false };
		case 'unread':
			return { cursor: unreadFrom(cursor, mark.ts), ignored: false };
		case 'message':
			return { cursor: readOne(cursor, mark.ts, timeline, reader), ignored: false };
	}
}

/** A ts past the newest message means that one: what comes later was not seen by whoever marked. */
function readUpTo(cursor: Cursor, ts: number, timeline: Timeline): Cursor {
	const target = Math.min(ts, timeline.latest);
	return target <= cursor.ts ? cursor : moveTo(cursor, target);
}

function unreadFrom(cursor: Cursor, ts: number): Cursor {
	return {
		ts: Math.min(cursor.ts, ts - 1),
		revision: cursor.revision + 1,
		ahead: keep(cursor.ahead, (one) => one < ts),
	};
}

function readOne(cursor: Cursor, ts: number, timeline: Timeline, reader: number): Cursor {
	if (ts <= cursor.ts) return cursor;
	const next = timeline.firstAfter(cursor.ts);
	const isNext = next < timeline.size && timeline.tsAt(next) === ts;
	if (!isNext) {
		const isOwn = timeline.authorAt(timeline.indexOf(ts)) === reader;
		return isOwn ? cursor : { ...cursor, ahead: new Set(cursor.ahead).add(ts) };
	}
	let target = ts;
	for (let index = next + 1; index < timeline.size; index += 1) {
		const read = timeline.authorAt(index) === reader || cursor.ahead.has(timeline.tsAt(index));
		if (!read) break;
		target = timeline.tsAt(index);
	}
	return moveTo(cursor, target);
}

const moveTo = (cursor: Cursor, ts: number): Cursor => ({
	...cursor,
	ts,
	ahead: keep(cursor.ahead, (one) => one > ts),
});

function keep(set: ReadonlySet<number>, wanted: (ts: number) => boolean): ReadonlySet<number> {
	if (set.size === 0) return set;
	return new Set([...set].filter(wanted));
}

/** Thread cursors have neither revision nor ahead set. */
export const threadReadUpTo = (cursor: number, ts: number, newestReply: number): number =>
	Math.max(cursor, Math.min(ts, newestReply));

export const threadUnreadFrom = (cursor: number, ts: number): number => Math.min(cursor, ts - 1);
