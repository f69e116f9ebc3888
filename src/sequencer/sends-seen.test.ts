import { expect, test } from 'bun:test';
import { REPEAT_WINDOW_MICROS, SendsSeen } from './sends-seen.ts';

const keys = (from: number, count: number) =>
	Array.from({ length: count }, (_, index) => `U1 m${from + index}`);
/** More than `HALF_SIZE`. */
const MANY = 40_000;

test('an added key may have been sent; any other key was certainly not sent since the stamp at which the filter begins', () => {
	const seen = new SendsSeen(100, 200);
	seen.add('U1 old', 150);
	seen.add('U1 new', 250);
	expect(['U1 old', 'U1 new', 'U2 old', 'U1 none'].map((key) => seen.mayHave(key, 100))).toEqual([
		true,
		true,
		false,
		false,
	]);
	expect(seen.mayHave('U1 none', 99)).toBe(true);
});

test('no recent key is lost among tens of thousands, and collisions are rare', () => {
	const seen = new SendsSeen(0);
	for (const [index, key] of keys(0, MANY).entries()) seen.add(key, index + 1);
	seen.evictOld(MANY, 0);
	for (const [index, key] of keys(MANY, MANY).entries()) seen.add(key, MANY + index + 1);
	expect(keys(0, 2 * MANY).every((key) => seen.mayHave(key, 0))).toBe(true);
	expect(keys(2 * MANY, 100_000).filter((key) => seen.mayHave(key, 0)).length).toBeLessThan(3);
});

test('it evicts only durable sends, and then covers sends from a later stamp on', () => {
	const seen = new SendsSeen(0);
	const fill = (from: number) => {
		for (const [index, key] of keys(from, MANY).entries()) seen.add(key, from + index + 1);
	};
	fill(0);
	seen.evictOld(MANY, MANY);
	fill(MANY);
	seen.evictOld(2 * MANY, MANY - 1);
	expect(keys(0, MANY).every((key) => seen.mayHave(key, 0))).toBe(true);
	expect(seen.mayHave('U1 none', 0)).toBe(false);
	seen.evictOld(2 * MANY, MANY);
	expect(seen.mayHave('U1 m0', MANY)).toBe(false);
	// It no longer covers the time before that.
	expect(seen.mayHave('U1 m0', MANY - 1)).toBe(true);
	expect(keys(MANY, MANY).every((key) => seen.mayHave(key, MANY))).toBe(true);
});

test('in a quiet conversation it evicts sends older than the window', () => {
	const seen = new SendsSeen(0);
	seen.add('U1 a', 10);
	seen.evictOld(REPEAT_WINDOW_MICROS + 11, Number.POSITIVE_INFINITY);
	expect(seen.mayHave('U1 a', 0)).toBe(true);
	seen.evictOld(2 * REPEAT_WINDOW_MICROS + 12, Number.POSITIVE_INFINITY);
	expect(seen.mayHave('U1 a', REPEAT_WINDOW_MICROS + 11)).toBe(false);
});
