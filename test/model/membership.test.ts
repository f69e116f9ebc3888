import { expect, test } from 'bun:test';
import { joined, left, withCursor } from '../../src/model/membership.ts';

/** How a membership changes, by docs/model.md. */

const first = joined(undefined, 100);

test('a first join starts at its cursor, with revision 0 and an empty ahead set', () => {
	expect(first).toEqual({
		member: true,
		muted: false,
		level: 'all',
		cursor: 100,
		revision: 0,
		ahead: new Set(),
	});
});

test('a rejoin drops preferences and the ahead set, and raises the revision', () => {
	const former = { ...left(first), muted: true, level: 'none', revision: 4, ahead: new Set([150]) } as const;
	expect(joined(former, 300)).toEqual({ ...first, cursor: 300, revision: 5 });
});

test('a leave keeps cursor, revision and preferences', () => {
	const before = { ...first, muted: true, revision: 2, ahead: new Set([150]) };
	expect(left(before)).toEqual({ ...before, member: false, ahead: new Set() });
});

test('a cursor replaces ts, revision and ahead set; fields of an engine stay', () => {
	const before = { ...first, revision: 2, ahead: new Set([150]), stamp: 7 };
	const cursor = { ts: 120, revision: 3, ahead: new Set([140]) };
	expect(withCursor(before, cursor)).toEqual({ ...before, cursor: 120, revision: 3, ahead: cursor.ahead });
});
