import { describe, expect, test } from 'bun:test';
import {
	countUnread,
	isShownAsUnread,
	type Reader,
	unreadEntries,
	unreadMentioning,
} from '../../src/model/counting.ts';
import { unreadInConversation } from '../../src/model/rows.ts';
import { BROADCAST, CHANNEL_WIDE, type Entry, HERE, NAMES, Timeline } from '../../src/model/timeline.ts';
import type { MemberContext } from '../../src/model/views.ts';
import { Random } from '../support/oracle/random.ts';

/** Counting stops at the cap, and gives the same result as a scan of all entries. */

const READER = 7;
const ALL = Number.POSITIVE_INFINITY;

/** Counts the entries that were read. */
class MeteredTimeline extends Timeline {
	looked = 0;

	override authorAt(index: number): number {
		this.looked += 1;
		return super.authorAt(index);
	}
}

const readerAt = (cursor: number, ahead: readonly number[] = []): Reader => ({
	number: READER,
	cursor,
	ahead: new Set(ahead),
	activity: { isActiveAt: (ts) => ts % 3 === 0 },
});

function entry(ts: number, random: Random, mentionsOneIn: number): Entry {
	const mentions = random.below(mentionsOneIn) === 0;
	const kind = mentions ? [CHANNEL_WIDE, HERE, NAMES, NAMES | HERE][random.below(4)]! : 0;
	const named = kind & NAMES ? [random.below(2) === 0 ? READER : 3] : [];
	const flags = kind | (random.below(4) === 0 ? BROADCAST : 0);
	return { ts, author: random.below(5) === 0 ? READER : 1, flags, named };
}

/** A timeline with loaded, appended, edited and deleted entries. */
function timelineOf(seed: number, size: number, mentionsOneIn: number): MeteredTimeline {
	const random = new Random(seed);
	const timeline = new MeteredTimeline(0);
	const half = Math.floor(size / 2);
	timeline.prepend(
		Array.from({ length: half }, (_, index) => entry(index + 1, random, mentionsOneIn)),
		0,
	);
	for (let ts = half + 1; ts <= size; ts += 1) timeline.append(entry(ts, random, mentionsOneIn));
	for (let change = 0; change < size / 10; change += 1) {
		const ts = 1 + random.below(size);
		if (random.below(2) === 0) timeline.remove(ts);
		else timeline.update(entry(ts, random, 2));
	}
	return timeline;
}

describe('counting unread entries', () => {
	test('gives the same result as a scan of all entries, up to the cap', () => {
		for (let seed = 1; seed <= 40; seed += 1) {
			const timeline = timelineOf(seed, 200, 4);
			const random = new Random(seed);
			const reader = readerAt(
				random.below(200),
				Array.from({ length: 10 }, () => random.below(200)),
			);
			const all = [...unreadEntries(timeline, reader)];
			const expected = {
				unread: all.length,
				mentions: all.filter(({ named, toAll }) => named || toAll).length,
				named: all.filter(({ named }) => named).length,
				namedInThreadOnly: all.filter(({ named, broadcast }) => named && !broadcast).length,
			};
			expect(countUnread(timeline, reader, ALL)).toEqual(expected);
			for (const most of [0, 1, 7, 50, 500]) {
				const counted = countUnread(timeline, reader, most);
				for (const what of ['unread', 'mentions', 'named'] as const)
					expect(Math.min(counted[what], most)).toBe(Math.min(expected[what], most));
				expect(counted.unread > most).toBe(expected.unread > most);
			}
			expect(isShownAsUnread(timeline, reader, false)).toBe(expected.unread > 0);
			expect(isShownAsUnread(timeline, reader, true)).toBe(expected.named > 0);
		}
	});

	test('reads only as many entries as the cap and the mentions, however far behind the user is', () => {
		const timeline = timelineOf(1, 60_000, 1_000);
		const mentions = timeline.mentioning.length;
		const { looked: before } = timeline;
		countUnread(timeline, readerAt(0), 500);
		// Some of the newest entries are the user's own.
		expect(timeline.looked - before).toBeLessThan(500 * 2 + mentions);
	});
});

test('does not read mentions of other users, however many there are', () => {
	const timeline = new MeteredTimeline(0);
	const naming = (ts: number): Entry => ({
		ts,
		author: 1,
		flags: NAMES,
		named: [ts % 500 === 0 ? READER : 3],
	});
	timeline.prepend(
		Array.from({ length: 5_000 }, (_, index) => naming(index + 1)),
		0,
	);
	expect(countUnread(timeline, readerAt(0), 100)).toMatchObject({ unread: 101, mentions: 10, named: 10 });
	expect(timeline.looked).toBeLessThanOrEqual(101 + 10);
});

test('mentions beyond the cap stay right while entries are added, changed and removed', () => {
	for (let seed = 1; seed <= 20; seed += 1) {
		const random = new Random(seed);
		const timeline = new Timeline(0);
		timeline.floor = 100;
		timeline.latest = 100;
		for (let ts = 101; ts <= 300; ts += 1) {
			timeline.append(entry(ts, random, 2));
			const other = 101 + random.below(ts - 100);
			if (random.below(3) === 0) timeline.update(entry(other, random, 2));
			if (random.below(5) === 0) timeline.remove(other);
			if (ts === 200)
				timeline.prepend(
					Array.from({ length: 100 }, (_, index) => entry(index + 1, random, 2)),
					0,
				);
			const reader = readerAt(timeline.floor + random.below(20));
			const counted = countUnread(timeline, reader, 5);
			const whole = countUnread(timeline, reader, ALL);
			expect(Math.min(counted.named, 6)).toBe(Math.min(whole.named, 6));
			expect(Math.min(counted.mentions, 6)).toBe(Math.min(whole.mentions, 6));
			const inList = [...unreadMentioning(timeline, reader)].filter(({ named, toAll }) => named || toAll);
			expect(inList.length).toBe(whole.mentions);
		}
	}
});

test('the badge of a channel is listed without reading plain messages', () => {
	const timeline = new MeteredTimeline(0);
	const entries = Array.from({ length: 5_000 }, (_, index): Entry => {
		const ts = index + 1;
		return { ts, author: 1, flags: ts % 1_000 === 0 ? NAMES : 0, named: ts % 1_000 === 0 ? [READER] : [] };
	});
	timeline.prepend(entries, 0);
	const place = {
		user: { number: READER, activity: { isActiveAt: () => false } },
		conversation: { id: 'C1', kind: 'public', archived: false, timeline },
		membership: { cursor: 0, ahead: new Set(), muted: false },
	} as unknown as MemberContext;
	expect(unreadInConversation(place, 'in badge').map(({ ts }) => ts)).toEqual([
		1_000, 2_000, 3_000, 4_000, 5_000,
	]);
	expect(timeline.looked).toBeLessThanOrEqual(5);
});
