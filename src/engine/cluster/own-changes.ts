import { threadKey } from '../../model/ids.ts';
import type { OwnChanges, OwnFollow, OwnMembership } from '../ports/changes.ts';
import type { ReadFact } from '../ports/facts.ts';
import type { StampedFollow, StampedMembership } from '../read-state/user-steps.ts';
import {
	type Fields,
	membershipFact,
	subjectOf,
	threadFact,
	unpackFollow,
	unpackMembership,
} from './redis/read-state/packing.ts';

/**
 * Merges the changes of a user from the store and from Redis. The store has what was consumed from the log: marks arrive there a
 * moment late, or much later while the log is unavailable. Redis has every mark before it is acknowledged, but not the time at
 * which the user unfollowed a thread. So for each membership and follow, the later change wins. Pure.
 */

export interface MergedChanges {
	readonly own: OwnChanges;
	/** Facts that the store lacks, to be appended to the log. */
	readonly missing: readonly ReadFact[];
}

/** Merges the user's own rows that changed after a stamp. */
export function mergeOwnChanges(
	user: string,
	stored: OwnChanges,
	fields: Fields,
	since: number,
): MergedChanges {
	const memberships = new Map(stored.memberships.map((row) => [row.conversation, row]));
	const follows = new Map(stored.follows.map((row) => [threadKey(row.conversation, row.threadTs), row]));
	const missing: ReadFact[] = [];
	for (const [field, packed] of Object.entries(fields)) {
		const { conversation, threadTs } = subjectOf(field) ?? {};
		if (conversation === undefined || threadTs === undefined) continue;
		if (threadTs === null) {
			const membership = unpackMembership(packed);
			const { member, joined, at } = membership;
			if (at <= since || hasMembership(memberships.get(conversation), membership)) continue;
			// Redis does not distinguish a mark from a preference: both are reported, in their current state.
			memberships.set(conversation, {
				conversation,
				member,
				joinedTs: joined,
				changedTs: at,
				preferredTs: at,
			});
			if (member)
				for (const type of ['cursor', 'preference'] as const)
					missing.push(membershipFact(type, user, conversation, membership));
		} else {
			const follow = unpackFollow(packed);
			const key = threadKey(conversation, threadTs);
			if (!follow || follow.at <= since || hasFollow(follows.get(key), follow)) continue;
			const { since: began, at } = follow;
			follows.set(key, { conversation, threadTs, active: true, since: began, changedTs: at });
			missing.push(threadFact(user, conversation, threadTs, follow));
		}
	}
	return { own: { memberships: [...memberships.values()], follows: [...follows.values()] }, missing };
}

const hasMembership = (row: OwnMembership | undefined, { joined, at }: StampedMembership): boolean =>
	row !== undefined && row.joinedTs >= joined && Math.max(row.changedTs, row.preferredTs) >= at;

const hasFollow = (row: OwnFollow | undefined, { since, at }: StampedFollow): boolean =>
	row !== undefined && row.since >= since && row.changedTs >= at;
