import { withCursor } from '../../../model/membership.ts';
import type { MembershipView } from '../../../model/views.ts';
import type { ReadFact } from '../../ports/facts.ts';
import type { Change } from '../../ports/views.ts';
import type { LoadedUser } from './loaded.ts';

/** Applies a change to a loaded user, in the conversation with this number; returns the fact for the store. */
export function applyChange(user: LoadedUser, number: number, change: Change, at: number): ReadFact {
	if (change.type === 'activity') {
		// It changes no count, so the stamp of the read state stays.
		user.activity.add(at, change.active);
		return { ...change, user: user.id, at };
	}
	user.stamp = at;
	if (change.type === 'thread_cursor') {
		const { threadTs, cursor } = change;
		const since = user.follows.get(number)?.get(threadTs)?.since ?? 0;
		user.setFollow(number, threadTs, { cursor, since });
		return { ...change, user: user.id, at };
	}
	const before = user.membershipIn(number) as MembershipView;
	if (change.type === 'preference') {
		const { muted, level } = change;
		user.setMembership(number, { ...before, muted, level });
		return { ...change, user: user.id, at };
	}
	const { ts: cursor, revision, ahead } = change.cursor;
	user.setMembership(number, withCursor(before, change.cursor));
	return { ...change, user: user.id, at, cursor, revision, ...aheadChange(before.ahead, cursor, ahead) };
}

/** The difference between two ahead sets, as the store needs it. */
function aheadChange(
	before: ReadonlySet<number>,
	cursor: number,
	after: ReadonlySet<number>,
): { ahead?: object } {
	const add = [...after].filter((ts) => !before.has(ts));
	const dropped = [...before].filter((ts) => !after.has(ts));
	if (add.length === 0 && dropped.length === 0) return {};
	const beyond = dropped.filter((ts) => ts > cursor);
	return {
		ahead: {
			...(beyond.length < dropped.length ? { dropUpTo: cursor } : {}),
			...(beyond.length > 0 ? { dropFrom: Math.min(...beyond) } : {}),
			...(add.length > 0 ? { add } : {}),
		},
	};
}
