import type { MembershipRow, UserReadState } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { StampedMembership } from '../../../read-state/user-steps.ts';
import { slotOf } from '../slots.ts';
import type { Context } from './context.ts';
import {
	ACTIVITY,
	ENDED,
	type Fields,
	membershipField,
	packActivity,
	STAMP,
	STORED,
	subjectOf,
	unpackActivity,
	unpackFollow,
	unpackMembership,
} from './packing.ts';
import type { UserCopies } from './user-copies.ts';
import { UserDraft } from './user-copy.ts';

/** Replaces a user's state in one conversation with that of the store: reads Redis, then the store, and sets the fields if Redis is unchanged. */
export async function repairUser(
	{ commands, keys, source, guard, nowMicros, mostStoreLagMs }: Context,
	copies: UserCopies,
	user: string,
	conversation: string,
): Promise<'repaired' | RepairProblem> {
	const longAgo = nowMicros() - mostStoreLagMs * 1000;
	const point = await guard.begin([user, conversation]);
	const fields: Fields = await commands.hgetall(keys.fields(user));
	// After the fields: if the store has this stamp, it has what effects did to them.
	const stamp = await commands.hget(keys.meta(conversation), 'stamp');
	const [brief] = await source.briefs([conversation]);
	if ((brief?.stamp ?? 0) < Number(stamp)) return 'store_behind';
	const rows = await source.user(user);
	await guard.verifyEpochs(point);
	const { behind, uncertainUpTo, changed } = comparisonOf(fields, rows, conversation);
	if (behind || (uncertainUpTo !== null && uncertainUpTo > longAgo)) return 'store_behind';
	if (Object.keys(changed).length === 0) return 'repaired';
	const newer = { ...changed, [STAMP]: String(nowMicros()) };
	const isSet = await copies.setFields(user, fields.version ?? STORED, newer, point.tokenOf(slotOf(user)));
	return isSet === '' ? 'changing' : 'repaired';
}

interface Comparison {
	/** The store lacks a change that Redis has. */
	readonly behind: boolean;
	/**
	 * Not null if store and Redis differ in the part (cursor or preference) that the newest change did not touch: an older change of that
	 * part may not be persisted yet. The value is the stamp of the newest change.
	 */
	readonly uncertainUpTo: number | null;
	/** Fields with the store's values where they differ. */
	readonly changed: Fields;
}

/**
 * Compares a user's state in one conversation in the store with that in Redis, and decides whether the store's can replace it. Pure.
 *
 * Joins, leaves and follows reach the store with the conversation's effects: the caller checks those. Marks and preferences reach
 * it separately. A field has one stamp: that of its newest mark or preference. It shows whether this change is in the store, but
 * not whether an older change of the other part (cursor or preference) still has to be persisted.
 */
function comparisonOf(fields: Fields, rows: UserReadState, conversation: string): Comparison {
	const isHere = (row: { readonly conversation: string }) => row.conversation === conversation;
	const memberships = rows.memberships.filter(isHere);
	const follows = rows.follows.filter(isHere);
	const packed = fields[membershipField(conversation)];
	const membership = packed === undefined ? undefined : unpackMembership(packed);
	const followed = Object.entries(fields).flatMap(([field, value]) => {
		const subject = subjectOf(field);
		return subject?.threadTs != null && isHere(subject) ? [{ field, threadTs: subject.threadTs, value }] : [];
	});
	const isMarkMissing = followed.some(({ threadTs, value }) => {
		const follow = unpackFollow(value);
		const stored = follows.find((one) => one.threadTs === threadTs);
		return follow && stored && (stored.since < follow.since || stored.changedTs < follow.at);
	});
	if (isMarkMissing || (membership && !reaches(memberships[0], membership)))
		return { behind: true, uncertainUpTo: null, changed: {} };

	const stored = UserDraft.of(
		conversation,
		{ ...rows, memberships, follows, ahead: rows.ahead.filter(isHere) },
		{},
	);
	const wanted: Record<string, string> = stored.fields;
	for (const { field } of followed) wanted[field] ??= ENDED;
	const activity = fields[ACTIVITY];
	const storedAt = new Set(rows.activity.map(({ at }) => at));
	// If the store lacks a change of activity, that change may not be persisted yet: keep them all.
	if (activity !== undefined && unpackActivity(activity).every(({ at }) => storedAt.has(at)))
		wanted[ACTIVITY] = packActivity(rows.activity);
	const changed = Object.fromEntries(
		Object.entries(wanted).filter(([field, value]) => fields[field] !== value),
	);
	const now = stored.membership(conversation);
	const [row] = memberships;
	const isUncertain = row && membership && now && differsInUnchangedPart(membership, now, row);
	return { behind: false, uncertainUpTo: isUncertain ? membership.at : null, changed };
}

const reaches = (row: MembershipRow | undefined, { joined, at }: StampedMembership): boolean =>
	row !== undefined && row.joinedTs >= joined && row.changedTs >= at;

/** Whether store and Redis differ in the part (cursor or preference) that the newest change did not touch. */
function differsInUnchangedPart(
	membership: StampedMembership,
	stored: StampedMembership,
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
