import { beforeEach, describe, expect, test } from 'bun:test';
import { MemoryBudget } from '../../src/gateway/memory-budget.ts';
import { HandClock } from './support.ts';

let clock: HandClock;
let budget: MemoryBudget;
let ended: string[];

beforeEach(() => {
	clock = new HandClock();
	budget = new MemoryBudget({ totalBytes: 100, shareBytes: 60, nowMs: clock.now });
	ended = [];
});

const hold = (key: string, bytes: number, name = key, forMs = 1000) =>
	budget.hold(key, bytes, forMs, (reason) => ended.push(`${name} ${reason}`));

describe('a budget of memory', () => {
	test('frees released memory', () => {
		const held = hold('a', 60);
		expect(hold('a', 1)).toBeNull();
		held?.release();
		held?.release();
		expect(budget.heldBytes).toBe(0);
		expect(hold('a', 60)).not.toBeNull();
		expect(ended).toEqual([]);
	});

	test('admits one item of any size for a key that holds nothing', () => {
		expect(hold('a', 500)).not.toBeNull();
		expect(hold('a', 1)).toBeNull();
	});

	test('evicts the oldest item of the key that holds most when it is full', () => {
		hold('a', 30, 'a1');
		hold('a', 30, 'a2');
		hold('b', 40);
		expect(hold('c', 10)).not.toBeNull();
		expect(ended).toEqual(['a1 evicted']);
		expect(budget.heldBytes).toBe(80);
	});

	test('rejects a new item whose key would hold most when it is full', () => {
		hold('a', 50);
		hold('b', 50);
		expect(hold('c', 55)).toBeNull();
		expect(hold('c', 50)).toBeNull();
		expect(ended).toEqual([]);
	});

	test('evicts nothing for a new item that is rejected', () => {
		hold('a', 30, 'a1');
		hold('a', 30, 'a2');
		hold('b', 40);
		expect(hold('c', 50)).toBeNull();
		expect(ended).toEqual([]);
		expect(hold('c', 35)).not.toBeNull();
		expect(ended).toEqual(['a1 evicted', 'b evicted']);
		expect(budget.heldBytes).toBe(65);
	});

	test('ends items that exceed their time, once', () => {
		hold('a', 10, 'short', 100);
		hold('a', 10, 'long', 10_000);
		clock.pass(100);
		budget.sweep();
		budget.sweep();
		expect(ended).toEqual(['short expired']);
		expect(budget.heldBytes).toBe(10);
	});
});
