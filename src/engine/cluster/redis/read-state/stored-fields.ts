import type { MembershipRow, UserReadState } from '../../../ports/store.ts';
import type { StoredMembership } from './packing.ts';
import {
	ACTIVITY,
	activityIn,
	type Fields,
	fieldsOf,
	followEntries,
	membershipIn,
	STAMP,
} from './user-state.ts';

/**
 * What the store has of a user in one conversation, beside what Redis has, and whether it may take its place. Pure.
 *
 * Joins, leaves and follows come to the store with the conversation's effects: the caller knows that it has those. Marks and
 * preferences come by themselves, each with a stamp, and the field has the newest of both. So it can be told whether that
 * one is in the store; but not whether an older one of the other kind, from another gateway, is still on its way.
 */
export interface StoredFields {
	/** The store lacks something that Redis has. */
	readonly behind: boolean;
	/** They differ in something of which an older change than this stamp may be on its way; null: in no such thing. */
	readonly doubtfulUpTo: number | null;
	/** Fields that the store has otherwise; '' for none. */
	readonly changed: Fields;
}

export function storedFields(fields: Fields, rows: UserReadState, conversation: string): StoredFields {
	const isHere = (row: { readonly conversation: string }) => row.conversation === conversation;
	const row = rows.memberships.find(isHere);
	const membership = membershipIn(fields, conversation);
	const follows = rows.follows.filter(isHere);
	const there = followEntries(fields).filter(isHere);
	const isMarkMissing = there.some(({ threadTs, follow }) => {
		const stored = follows.find((one) => one.threadTs === threadTs);
		return stored !== undefined && (stored.since < follow.since || stored.changedTs < follow.at);
	});
	if (isMarkMissing || (membership && !reaches(row, membership)))
		return { behind: true, doubtfulUpTo: null, changed: {} };

	const ahead = rows.ahead.filter(isHere);
	const stored = fieldsOf({ ...rows, memberships: row ? [row] : [], ahead, follows });
	const { [ACTIVITY]: activity = '', [STAMP]: _, ...wanted }: Record<string, string> = stored;
	for (const { threadTs } of there) wanted[`f:${conversation}:${threadTs}`] ??= '';
	if (hasAll(rows.activity, activityIn(fields))) wanted[ACTIVITY] = activity;
	const changed = Object.fromEntries(
		Object.entries(wanted).filter(([field, value]) => (fields[field] ?? '') !== value),
	);
	const now = membershipIn(wanted, conversation);
	const isDoubtful = row && membership && now && differsInTheOther(membership, now, row);
	return { behind: false, doubtfulUpTo: isDoubtful ? membership.at : null, changed };
}

const reaches = (row: MembershipRow | undefined, { joined, at }: StoredMembership): boolean =>
	row !== undefined && row.joinedTs >= joined && row.changedTs >= at;

/** Of a cursor and a preference, the one that is not the newest change of the field differs. */
function differsInTheOther(
	membership: StoredMembership,
	stored: StoredMembership,
	row: MembershipRow,
): boolean {
	if (row.preferredTs < membership.at)
		return membership.muted !== stored.muted || membership.level !== stored.level;
	return (
		membership.cursor !== stored.cursor ||
		membership.revision !== stored.revision ||
		[...membership.ahead].join() !== [...stored.ahead].join()
	);
}

/** Moments of activity that the store lacks may be on their way: then all of them stay as they are. */
function hasAll(stored: UserReadState['activity'], changes: UserReadState['activity']): boolean {
	const known = new Set(stored.map(({ at }) => at));
	return changes.every(({ at }) => known.has(at));
}
