import type { Cursor } from './cursor.ts';
import { type MembershipView, NOTHING_AHEAD } from './views.ts';

/**
 * How a membership changes: pure, the same on both engines. An engine that stores more of a membership, such as stamps, keeps those
 * fields and sets them itself.
 */

/** A user who rejoins starts over, with a higher revision, so that marks from before the rejoin are ignored. */
export const joined = (former: MembershipView | undefined, cursor: number): MembershipView => ({
	member: true,
	muted: false,
	level: 'all',
	cursor,
	revision: former ? former.revision + 1 : 0,
	ahead: NOTHING_AHEAD,
});

export const left = <M extends MembershipView>(membership: M): M => ({
	...membership,
	member: false,
	ahead: NOTHING_AHEAD,
});

export const withCursor = <M extends MembershipView>(
	membership: M,
	{ ts: cursor, revision, ahead }: Cursor,
): M => ({ ...membership, cursor, revision, ahead });
