import { expect, test } from 'bun:test';
import {
	COUNT_CAP,
	type Counts,
	isCaughtUp,
	type Reader,
	reasonsInBadge,
	shownCounts,
} from '../../src/model/counting.ts';
import { Timeline } from '../../src/model/timeline.ts';

/** Which entries count, by the kind of conversation and whether it is muted; and when a post moves its author's cursor. */

const counts: Counts = { unread: 7, mentions: 3, named: 2, namedInThreadOnly: 1 };

test.each([
	[
		{ direct: false, muted: false },
		{ unread: 7, unreadDisplay: 7, mentions: 3, badge: 3, capped: false },
	],
	[
		{ direct: false, muted: true },
		{ unread: 7, unreadDisplay: 0, mentions: 3, badge: 2, capped: false },
	],
	[
		{ direct: true, muted: false },
		{ unread: 7, unreadDisplay: 7, mentions: 7, badge: 7, capped: false },
	],
	[
		{ direct: true, muted: true },
		{ unread: 7, unreadDisplay: 0, mentions: 7, badge: 2, capped: false },
	],
] as const)('%j', (rules, shown) => expect(shownCounts(counts, rules)).toEqual(shown));

test('a count is exact up to the cap, and flagged beyond it', () => {
	const shown = (unread: number) => shownCounts({ ...counts, unread }, { direct: true, muted: false });
	expect(shown(COUNT_CAP)).toMatchObject({ unread: COUNT_CAP, badge: COUNT_CAP, capped: false });
	expect(shown(COUNT_CAP + 1)).toMatchObject({
		unread: COUNT_CAP,
		mentions: COUNT_CAP,
		badge: COUNT_CAP,
		capped: true,
	});
});

const entry = { index: 0, ts: 1, named: false, toAll: false, broadcast: false };

test.each([
	[{ ...entry }, { direct: false, muted: false }, []],
	[{ ...entry }, { direct: true, muted: false }, ['dm']],
	[{ ...entry }, { direct: true, muted: true }, []],
	[{ ...entry, toAll: true }, { direct: false, muted: false }, ['channel_mention']],
	[{ ...entry, toAll: true }, { direct: false, muted: true }, []],
	[{ ...entry, named: true, toAll: true }, { direct: false, muted: true }, ['direct_mention']],
	[
		{ ...entry, named: true, toAll: true },
		{ direct: true, muted: false },
		['dm', 'direct_mention', 'channel_mention'],
	],
] as const)('the reasons for %j in the badge of %j', (unread, rules, reasons) =>
	expect(reasonsInBadge(unread, rules)).toEqual([...reasons]),
);

const AUTHOR = 1;
const readerAt = (cursor: number, ahead: readonly number[] = []): Reader => ({
	number: AUTHOR,
	cursor,
	ahead: new Set(ahead),
	activity: { isActiveAt: () => false },
});

/** Entries 10 (another user's), 20 (the author's) and 30 (another user's); those before 5 are not loaded. */
function timeline(): Timeline {
	const made = new Timeline(5);
	for (const [ts, author] of [
		[10, 2],
		[20, AUTHOR],
		[30, 2],
	] as const)
		made.append({ ts, author, flags: 0, named: [] });
	return made;
}

test('a post moves its author’s cursor only if nothing before it was unread', () => {
	expect(isCaughtUp(timeline(), readerAt(10), 20)).toBe(true);
	expect(isCaughtUp(timeline(), readerAt(5), 20)).toBe(false);
	// If the previous message is in the ahead set, it does not count, and messages after the post do not matter.
	expect(isCaughtUp(timeline(), readerAt(5, [10]), 20)).toBe(true);
	expect(isCaughtUp(timeline(), readerAt(20), 40)).toBe(false);
});

test('whether a post moves the cursor is unknown while older entries are not loaded; a cursor beyond the post stays', () => {
	expect(isCaughtUp(timeline(), readerAt(3, [10]), 20)).toBeUndefined();
	expect(isCaughtUp(timeline(), readerAt(25), 20)).toBe(false);
});
