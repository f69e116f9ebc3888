import { expect, test } from 'bun:test';
import { Recent } from '../../src/sequencer/recent.ts';

/** A worker evicts the oldest items, and never those that the store does not have. */

const FULL = 512;

/** As many items as one half has, from `first` on; each has its number as stamp. */
function fill(recent: Recent<number, string>, first: number): number {
	for (let key = first; key < first + FULL; key += 1) recent.set(key, `value ${key}`);
	return first + FULL - 1;
}

test('items that the store has are evicted after two halves', () => {
	const recent = new Recent<number, string>();
	for (const first of [0, FULL, 2 * FULL]) {
		const stamp = fill(recent, first);
		recent.evictOld(stamp, stamp);
	}
	expect([recent.has(0), recent.has(FULL - 1), recent.has(2 * FULL), recent.get(3 * FULL - 1)]).toEqual([
		false,
		false,
		true,
		`value ${3 * FULL - 1}`,
	]);
});

test('items that the store does not have stay, however many are added', () => {
	const recent = new Recent<number, string>();
	recent.evictOld(fill(recent, 0), 0);
	for (const first of [FULL, 2 * FULL, 3 * FULL]) recent.evictOld(fill(recent, first), 0);
	expect(recent.get(0)).toBe('value 0');
	expect([...recent.keys()]).toHaveLength(4 * FULL);
});

test('a newer value hides the older one, and each key is listed once', () => {
	const recent = new Recent<number, string>();
	recent.evictOld(fill(recent, 0), 0);
	recent.set(0, 'newer');
	expect(recent.get(0)).toBe('newer');
	expect([...recent.keys()].filter((key) => key === 0)).toEqual([0]);
});
