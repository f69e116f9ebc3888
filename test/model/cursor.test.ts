import { describe, expect, test } from 'bun:test';
import {
	applyMark,
	type Cursor,
	type Mark,
	threadReadUpTo,
	threadUnreadFrom,
} from '../../src/model/cursor.ts';
import { Timeline } from '../../src/model/timeline.ts';
import { Random } from '../support/oracle/random.ts';

/** How marks move a cursor, compared with a model that has a flag for every message. */

const ME = 7;
const OTHER = 1;
const START: Cursor = { ts: 0, revision: 0, ahead: new Set() };

/** Messages 10, 20, 30 …; every fourth is the user's own. */
function timelineOf(size: number): Timeline {
	const timeline = new Timeline(0);
	for (let step = 1; step <= size; step += 1)
		timeline.append({ ts: step * 10, author: step % 4 === 0 ? ME : OTHER, flags: 0, named: [] });
	return timeline;
}

const after = (cursor: Cursor, marks: readonly Mark[], timeline: Timeline): Cursor =>
	marks.reduce((now, mark) => applyMark(now, mark, timeline, ME).cursor, cursor);

const read = (ts: number, revision?: number): Mark => ({ type: 'read', ts, revision });
const unread = (ts: number): Mark => ({ type: 'unread', ts });
const single = (...tss: number[]): Mark => ({ type: 'messages', tss });

/** The unread messages of other users. */
const unreadOf = ({ ts, ahead }: Cursor, timeline: Timeline): number[] =>
	Array.from({ length: timeline.size }, (_, index) => index)
		.filter((index) => timeline.authorAt(index) !== ME)
		.map((index) => timeline.tsAt(index))
		.filter((one) => one > ts && !ahead.has(one));

describe('marks', () => {
	test('up to a message: in any order, any number of times, the highest wins', () => {
		const timeline = timelineOf(20);
		const random = new Random(1);
		for (let round = 0; round < 100; round += 1) {
			const marks = Array.from({ length: 6 }, () => read(random.below(220)));
			const highest = Math.min(
				timeline.latest,
				Math.max(...marks.map((mark) => (mark as { ts: number }).ts)),
			);
			expect(after(START, [...marks, ...marks], timeline).ts).toBe(highest);
			expect(after(START, marks.toReversed(), timeline).ts).toBe(highest);
		}
	});

	test('a mark with a ts after the newest message moves to that message, and not to later ones', () => {
		const timeline = timelineOf(3);
		const cursor = after(START, [read(Number.MAX_SAFE_INTEGER)], timeline);
		expect(cursor.ts).toBe(30);
		timeline.append({ ts: 50, author: OTHER, flags: 0, named: [] });
		expect(unreadOf(cursor, timeline)).toEqual([50]);
	});

	test('after a mark unread, a mark with an older revision is ignored, and says so', () => {
		const timeline = timelineOf(8);
		const back = after(START, [read(80), unread(30)], timeline);
		expect(back).toEqual({ ts: 29, revision: 1, ahead: new Set() });
		expect(applyMark(back, read(80, 0), timeline, ME)).toEqual({ cursor: back, ignored: true });
		expect(applyMark(back, read(80, 1), timeline, ME).cursor.ts).toBe(80);
		expect(applyMark(back, read(80), timeline, ME).cursor.ts).toBe(80);
		// The cursor never moves forward, and the revision rises anyway.
		expect(after(back, [unread(70)], timeline)).toEqual({ ts: 29, revision: 2, ahead: new Set() });
	});

	test('any marks in any order leave the same messages unread as a model with a flag per message', () => {
		const timeline = timelineOf(16);
		for (let seed = 1; seed <= 300; seed += 1) {
			const random = new Random(seed);
			let cursor = START;
			const ticked = new Set<number>();
			for (let step = 0; step < 12; step += 1) {
				const ts = 10 * (1 + random.below(16));
				const kind = random.below(3);
				cursor = after(cursor, [[read, unread, single][kind]!(ts)], timeline);
				for (let one = 10; one <= 160; one += 10) {
					if (kind === 0 && one <= ts) ticked.add(one);
					if (kind === 1 && one >= ts) ticked.delete(one);
					if (kind === 2 && one === ts) ticked.add(one);
				}
				const left = unreadOf(START, timeline).filter((one) => !ticked.has(one));
				expect([seed, step, unreadOf(cursor, timeline)]).toEqual([seed, step, left]);
			}
		}
	});

	test('marking the next message moves the cursor, and nothing is stored twice', () => {
		const timeline = timelineOf(8);
		const ahead = after(START, [single(20), single(30)], timeline);
		expect([ahead.ts, [...ahead.ahead]]).toEqual([0, [20, 30]]);
		// 40 is the user's own.
		const moved = after(ahead, [single(10)], timeline);
		expect([moved.ts, [...moved.ahead]]).toEqual([40, []]);
		expect(after(moved, [single(10, 999)], timeline)).toBe(moved);
	});
});

test('in threads the highest mark wins, and never passes the newest reply', () => {
	expect(threadReadUpTo(10, 30, 20)).toBe(20);
	expect(threadReadUpTo(10, 5, 20)).toBe(10);
	expect(threadUnreadFrom(20, 15)).toBe(14);
	expect(threadUnreadFrom(10, 15)).toBe(10);
});
