import { checkInvariant } from './invariants.ts';
import type { Timeline } from './timeline.ts';

/**
 * How cursors move: pure functions from a cursor and a mark to a cursor. Read marks with the same revision commute: the
 * highest wins, in any order and however often it is repeated. Only a mark unread moves a cursor back; it raises the revision.
 */

export interface Cursor {
	/** Everything at or before this ts is read. */
	readonly ts: number;
	/** Rises with each mark-unread; a mark that carries an older revision is ignored. */
	readonly revision: number;
	/** Messages of others after the cursor that the user has already read. The user's own messages always count as read. */
	readonly ahead: ReadonlySet<number>;
}

export type Mark =
	| { readonly type: 'read'; readonly ts: number; readonly revision?: number | undefined }
	| { readonly type: 'unread'; readonly ts: number }
	/** Marks single messages, not those before them. Messages that are not in the timeline are ignored. */
	| {
			readonly type: 'messages';
			readonly tss: readonly number[];
			readonly revision?: number | undefined;
	  };

export interface Marked {
	readonly cursor: Cursor;
	/** The mark carried a revision older than the cursor's. */
	readonly ignored: boolean;
}

export function applyMark(cursor: Cursor, mark: Mark, timeline: Timeline, reader: number): Marked {
	const outdated = mark.type !== 'unread' && mark.revision !== undefined && mark.revision < cursor.revision;
	if (outdated) return { cursor, ignored: true };
	const moved = movedBy(cursor, mark, timeline, reader);
	checkInvariant('cursor_within_timeline', moved.ts <= Math.max(cursor.ts, timeline.latest));
	return { cursor: moved, ignored: false };
}

function movedBy(cursor: Cursor, mark: Mark, timeline: Timeline, reader: number): Cursor {
	switch (mark.type) {
		case 'read':
			return readUpTo(cursor, mark.ts, timeline);
		case 'unread':
			return unreadFrom(cursor, mark.ts);
		case 'messages':
			return readThese(cursor, mark.tss, timeline, reader);
	}
}

/** A ts past the newest message marks up to the newest: the device cannot have shown later ones. */
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

/**
 * Adds the messages to the ahead set. If the first message after the cursor is among them, the cursor moves past it and past the read
 * messages that follow it.
 */
function readThese(cursor: Cursor, tss: readonly number[], timeline: Timeline, reader: number): Cursor {
	const marked = new Set(tss.filter((ts) => ts > cursor.ts && timeline.indexOf(ts) >= 0));
	const isOwn = (index: number): boolean => timeline.authorAt(index) === reader;
	const added = [...marked].filter((ts) => !cursor.ahead.has(ts) && !isOwn(timeline.indexOf(ts)));
	const ahead = added.length === 0 ? cursor.ahead : new Set([...cursor.ahead, ...added]);
	const next = timeline.firstAfter(cursor.ts);
	if (next === timeline.size || !marked.has(timeline.tsAt(next)))
		return added.length === 0 ? cursor : { ...cursor, ahead };
	let end = next + 1;
	while (end < timeline.size && (isOwn(end) || ahead.has(timeline.tsAt(end)))) end += 1;
	return moveTo({ ...cursor, ahead }, timeline.tsAt(end - 1));
}

/** The oldest ts that the mark depends on. */
export const oldestTsOf = (mark: Extract<Mark, { type: 'unread' | 'messages' }>): number =>
	mark.type === 'unread'
		? mark.ts
		: mark.tss.reduce((least, ts) => Math.min(least, ts), Number.MAX_SAFE_INTEGER);

/** Whether the timeline has a message that the mark names. */
export function namesAnyMessageOf(mark: Mark, timeline: Timeline): boolean {
	if (mark.type === 'read') return true;
	return (mark.type === 'unread' ? [mark.ts] : mark.tss).some((ts) => timeline.indexOf(ts) >= 0);
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

/** Thread cursors have no revision and no ahead set. */
export const threadReadUpTo = (cursor: number, ts: number, newestReply: number): number =>
	Math.max(cursor, Math.min(ts, newestReply));

export const threadUnreadFrom = (cursor: number, ts: number): number => Math.min(cursor, ts - 1);
