import { expect, test } from 'bun:test';
import type { OwnChanges } from '../ports/changes.ts';
import { mergeOwnChanges } from './own-changes.ts';
import { followField, membershipField, packFollow, packMembership } from './redis/read-state/packing.ts';

const SINCE = 100;
const membership = (at: number, more: { member?: boolean; joined?: number } = {}) =>
	packMembership({
		member: true,
		muted: false,
		level: 'all',
		cursor: 50,
		revision: 0,
		joined: 10,
		at,
		ahead: new Set(),
		...more,
	});
const row = (
	conversation: string,
	changedTs: number,
	more: { joinedTs?: number; member?: boolean } = {},
) => ({
	conversation,
	member: true,
	joinedTs: 10,
	changedTs,
	preferredTs: 0,
	...more,
});
const stored = (more: Partial<OwnChanges>): OwnChanges => ({ memberships: [], follows: [], ...more });

test('if the store has all changes, they are returned as stored', () => {
	const rows = stored({ memberships: [row('C1', 120)] });
	const fields = { [membershipField('C1')]: membership(120), [membershipField('C2')]: membership(SINCE) };
	expect(mergeOwnChanges('U1', rows, fields, SINCE)).toEqual({ own: rows, missing: [] });
});

test('a mark that the store lacks comes from Redis, and can be appended to the log again', () => {
	const rows = stored({ memberships: [row('C1', 110)] });
	const fields = { [membershipField('C1')]: membership(120), [membershipField('C2')]: membership(130) };
	const { own, missing } = mergeOwnChanges('U1', rows, fields, SINCE);
	expect(own.memberships).toEqual([
		{ ...row('C1', 120), preferredTs: 120 },
		{ ...row('C2', 130), preferredTs: 130 },
	]);
	expect(missing.map(({ type, at }) => `${type} ${at}`)).toEqual([
		'cursor 120',
		'preference 120',
		'cursor 130',
		'preference 130',
	]);
});

test('a later membership wins over marks of an earlier one, and a leave over earlier marks', () => {
	const rows = stored({ memberships: [row('C1', 140), row('C2', 105)] });
	const fields = {
		[membershipField('C1')]: membership(130, { joined: 115 }),
		[membershipField('C2')]: membership(125, { member: false }),
	};
	const { own, missing } = mergeOwnChanges('U1', rows, fields, SINCE);
	expect(own.memberships).toMatchObject([
		{ conversation: 'C1', member: true, joinedTs: 115, changedTs: 130 },
		{ conversation: 'C2', member: false, changedTs: 125 },
	]);
	expect(missing.map(({ type, at }) => `${type} ${at}`)).toEqual(['cursor 130', 'preference 130']);
});

test('the later change of a followed thread wins; only the store has unfollowed threads', () => {
	const ended = { conversation: 'C1', threadTs: 7, active: false, since: 115, changedTs: 115 };
	const fields = {
		[followField('C1', 8)]: packFollow({ cursor: 8, since: 20, at: 130 }),
		[followField('C1', 9)]: packFollow({ cursor: 9, since: 20, at: SINCE }),
	};
	const { own, missing } = mergeOwnChanges('U1', stored({ follows: [ended] }), fields, SINCE);
	expect(own.follows).toEqual([
		ended,
		{ conversation: 'C1', threadTs: 8, active: true, since: 20, changedTs: 130 },
	]);
	expect(missing).toEqual([
		{ type: 'thread_cursor', user: 'U1', conversation: 'C1', threadTs: 8, at: 130, cursor: 8, since: 20 },
	]);
});
