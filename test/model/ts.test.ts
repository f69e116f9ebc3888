import { expect, test } from 'bun:test';
import { formatTs, parseBound, parseTs, risingClock } from '../../src/model/ts.ts';

/** A ts: microseconds in memory, 10 digits, a dot and 6 digits on the wire. */

test('a ts is the same after formatting and parsing, from 0 to 16 digits', () => {
	for (const micros of [0, 1, 999_999, 1_717_200_000_123_456, 9_007_199_254_740_991])
		expect(parseTs(formatTs(micros))).toBe(micros);
	expect(formatTs(1)).toBe('0000000000.000001');
});

test('formatted ts sort like their numbers', () => {
	const wires = [1_717_200_000_123_456, 5, 1_717_200_000_000_007].map(formatTs);
	expect(wires.toSorted().map(parseTs)).toEqual([5, 1_717_200_000_000_007, 1_717_200_000_123_456]);
});

test.each([
	['1717200000.1234565', 1_717_200_000_123_457],
	['1717200000.12345649999', 1_717_200_000_123_456],
	['1717200000.9999999', 1_717_200_001_000_000],
] as const)('%s is rounded to microseconds', (text, micros) => expect(parseTs(text)).toBe(micros));

test.each([
	'',
	'0',
	'1717200000',
	'1717200000.5',
	'171720000.123456',
	'1717200000.12345x',
	' 1717200000.123456',
	'-1717200000.123456',
])('%p is not a ts', (text) => expect(parseTs(text)).toBeUndefined());

test('bounds of a range may be shorter', () => {
	expect(['0', '1717200000', '1717200000.5'].map(parseBound)).toEqual([
		0, 1_717_200_000_000_000, 1_717_200_000_500_000,
	]);
	for (const text of ['', '.', '1.', '-1', '12345678901', 'now']) expect(parseBound(text)).toBeUndefined();
});

test('stamps rise even if the clock stops or steps back, and start after the newest stored one', () => {
	const times = [100, 100, 90, 200];
	const clock = risingClock(() => times.shift() ?? 0, 98);
	expect(clock.last()).toBe(98);
	expect([clock.next(), clock.next(), clock.next(), clock.next()]).toEqual([100, 101, 102, 200]);
	expect(clock.last()).toBe(200);
});
