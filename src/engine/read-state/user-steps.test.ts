import { expect, test } from 'bun:test';
import type { Effect } from '../../sequencer/effects.ts';
import { UserDraft } from '../cluster/redis/read-state/user-copy.ts';
import type { MembershipRow } from '../ports/store.ts';
import { applySteps, type Step, stepsOf } from './user-steps.ts';

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

test('a rejoin and a post that are applied again change nothing, and are reported again: perhaps they were not persisted', () => {
	const message = {
		...{ conversation: 'C1', ts: 70, user: 'U1', text: '', threadTs: 60, broadcast: true },
		...{ channelWide: false, here: false, named: [] },
	};
	const effect = { type: 'posted', at: 70, prevTs: 40, thread: null, message } as unknown as Effect;
	const steps = [JOIN, { type: 'follow', conversation: 'C1', at: 60, threadTs: 60, cursor: 60 } as const];
	const state = new UserDraft(loaded(LEFT));
	const all = [...steps, ...(stepsOf([{ ...effect, conversation: { id: 'C1' } } as Effect]).get('U1') ?? [])];
	const context = (isNew: boolean) => ({ isNew: () => isNew, wasCaughtUp: () => true });
	const first = applySteps(state, all, context(true));
	const { fields } = state;
	expect(first.map(({ by, threadTs }) => [by, threadTs])).toEqual([
		['join', null],
		['post', null],
		['post', 60],
	]);
	for (const _ of [1, 2, 3]) {
		const again = applySteps(state, all, context(false));
		expect(again.map(({ by, threadTs }) => [by, threadTs])).toEqual(
			first.map(({ by, threadTs }) => [by, threadTs]),
		);
		expect(state.fields).toEqual(fields);
	}
});

test('a join that was followed by a leave does not make a member again', () => {
	expect(replayed({ ...LEFT, joinedTs: 50 }, JOIN)).toMatchObject({ member: false });
});

test('a follow that a leave ended does not begin again in a replay after a rejoin', () => {
	const state = new UserDraft();
	const follow = { type: 'follow', conversation: 'C1', at: 55, threadTs: 45, cursor: 45 } as const;
	const steps = [JOIN, follow, { ...LEAVE, at: 60 }, { ...JOIN, at: 70 }];
	for (const isNew of [true, false, false]) {
		applySteps(state, steps, { isNew: () => isNew, wasCaughtUp: () => false });
		expect(state.membership('C1')).toMatchObject({ member: true, joined: 70 });
		expect(state.follow('C1', 45)).toBeUndefined();
	}
});

test('a rejoin that a leave followed is reported again too: the store needs its revision', () => {
	const state = new UserDraft(loaded(LEFT));
	for (const isNew of [true, false]) {
		const moved = applySteps(state, [JOIN, { ...LEAVE, at: 60 }], {
			isNew: () => isNew,
			wasCaughtUp: () => false,
		});
		expect(moved.map(({ by }) => by)).toEqual(['join']);
	}
	expect(state.membership('C1')).toMatchObject({ member: false, revision: 3 });
});
