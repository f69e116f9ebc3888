import { expect, test } from 'bun:test';
import { applyMark } from '../../src/model/cursor.ts';
import { checkInvariant, INVARIANTS, violationsOf } from '../../src/model/invariants.ts';
import { Timeline } from '../../src/model/timeline.ts';

test('a violated invariant is counted, a satisfied one is not', () => {
	const before = violationsOf('stamps_rise');
	checkInvariant('stamps_rise', true);
	expect(violationsOf('stamps_rise')).toBe(before);
	checkInvariant('stamps_rise', false);
	expect(violationsOf('stamps_rise')).toBe(before + 1);
});

test('a mark after the newest message violates no invariant', () => {
	const before = INVARIANTS.map(violationsOf);
	const timeline = new Timeline(0);
	timeline.prepend([{ ts: 5, author: 1, flags: 0, named: [] }], 0);
	const cursor = { ts: 0, revision: 0, ahead: new Set<number>() };
	applyMark(cursor, { type: 'read', ts: 99 }, timeline, 2);
	expect(INVARIANTS.map(violationsOf)).toEqual(before);
});
