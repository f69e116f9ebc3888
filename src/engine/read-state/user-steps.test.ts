import { expect, test } from 'bun:test';
import { UserDraft } from '../cluster/redis/read-state/user-copy.ts';
import type { MembershipRow } from '../ports/store.ts';
import { applySteps, type Step } from './user-steps.ts';

const JOIN = { type: 'join', conversation: 'C1', at: 50, cursor: 40 } as const;
const LEAVE = { type: 'leave', conversation: 'C1', at: 30 } as const;
const LEFT: MembershipRow = {
	conversation: 'C1',
	member: false,
	joinedTs: 10,
	cursor: 45,
	revision: 2,
	muted: false,
	level: 'all',
	changedTs: 60,
	preferredTs: 0,
};

const loaded = (row: MembershipRow) =>
	UserDraft.of('C1', { memberships: [row], ahead: [], follows: [], activity: [], stamp: row.changedTs }, {});
const replayed = (row: MembershipRow, ...steps: Step[]) => {
	const draft = new UserDraft(loaded(row));
	applySteps(draft, steps, { isNew: () => true, wasCaughtUp: () => false });
	return draft.membership('C1');
};

test('a replayed join keeps the marks of its membership that the store already has', () => {
	const row = { ...LEFT, awaitedJoin: 50 };
	expect(loaded(row).membership('C1')).toMatchObject({ member: false, isJoinAwaited: true });
	const after = replayed(row, LEAVE, JOIN);
	expect(after).toMatchObject({ member: true, joined: 50, cursor: 45, revision: 2 });
	expect(after?.isJoinAwaited).toBe(false);
});

test('a rejoin starts at the cursor of the join, with a higher revision than the former membership', () => {
	expect(replayed(LEFT, JOIN)).toMatchObject({ member: true, joined: 50, cursor: 40, revision: 3 });
});

test('a join that was followed by a leave does not make a member again', () => {
	expect(replayed({ ...LEFT, joinedTs: 50 }, JOIN)).toMatchObject({ member: false });
});
