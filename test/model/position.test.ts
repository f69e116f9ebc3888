import { expect, test } from 'bun:test';
import {
	formatPosition,
	formatRowPosition,
	formatTotalsVersion,
	parsePosition,
} from '../../src/model/position.ts';

/** Positions sort as text in the order of the changes. */

test('a later position sorts after an earlier one', () => {
	const stamps = [0, 9, 10, 1_717_200_000_123_456];
	expect(stamps.map(formatPosition)).toEqual(stamps.map(formatPosition).toSorted());
	for (const stamp of stamps) expect(parsePosition(formatPosition(stamp))).toBe(stamp);
});

test('a row’s position rises when its conversation or its user changes', () => {
	const at = (conversation: number, user: number) => formatRowPosition({ conversation, user });
	expect(at(10, 5) < at(10, 6)).toBe(true);
	expect(at(10, 6) < at(11, 6)).toBe(true);
	expect([parsePosition(at(10, 6)), parsePosition(at(3, 6))]).toEqual([10, 6]);
});

test('the version of totals has the user first', () => {
	expect(formatTotalsVersion({ user: 1, conversations: 2 })).toBe('00000000000000010000000000000002');
});

test('any other text is not a position', () => {
	for (const text of [
		'',
		'1',
		'17172000001234567',
		` ${formatPosition(1)}`,
		`${formatPosition(1)}0`,
		'-000000000000001',
	])
		expect([text, parsePosition(text)]).toEqual([text, undefined]);
});
