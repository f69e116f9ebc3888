import { expect, test } from 'bun:test';
import { Activity } from '../../src/model/activity.ts';

/** When a user was active, which decides whom `<!here>` mentions. */

const spans = (activity: Activity, times: readonly number[]): boolean[] =>
	times.map((ts) => activity.isActiveAt(ts));

test('a user is active from one change to the next, including the moment of the change', () => {
	const activity = new Activity([]);
	activity.add(10, true);
	activity.add(20, false);
	activity.add(30, true);
	expect(spans(activity, [9, 10, 19, 20, 29, 30, 99])).toEqual([false, true, true, false, false, true, true]);
	expect(activity.newest).toBe(30);
});

test('a restart of the server ends earlier activity, and not later activity', () => {
	const activity = new Activity([5, 15]);
	activity.add(10, true);
	expect(spans(activity, [10, 14, 15, 20])).toEqual([true, true, false, false]);
	activity.add(18, true);
	expect(spans(activity, [14, 15, 18])).toEqual([true, false, true]);
});

test('nobody is active before the first change, or after all sockets are gone', () => {
	const activity = new Activity([]);
	expect([activity.isActiveAt(1), activity.newest]).toEqual([false, 0]);
	activity.add(3, true);
	activity.add(4, false);
	expect(spans(activity, [2, 3, 4])).toEqual([false, true, false]);
});

test('an activity made from a list of changes returns the same list', () => {
	const changes = [
		{ at: 3, active: true },
		{ at: 5, active: false },
	];
	const activity = new Activity([], changes);
	expect(activity.all()).toEqual(changes);
	expect(spans(activity, [2, 3, 4, 5])).toEqual([false, true, true, false]);
});
