import type { OwnChanges, OwnFollow, OwnMembership } from '../ports/changes.ts';
import type { ReadFact } from '../ports/facts.ts';
import type { RedisFollow, RedisMembership } from './redis/read-state/packing.ts';
import { cursorFact, preferenceFact, threadFact } from './redis/read-state/read-facts.ts';
import {
	type Fields,
	followEntries,
	followField,
	membershipEntries,
	membershipField,
} from './redis/read-state/user-state.ts';

/**
 * Merges the changes of a user from the store and from Redis. The store has what was consumed from the log: marks arrive there a
 * moment late, or much later while the log is unavailable. Redis has every mark before it is acknowledged, but not the threads
 * that the user has unfollowed. So for each membership and follow, the later change wins. Pure.
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
	const memberships = new Map(stored.memberships.map((row) => [membershipField(row.conversation), row]));
	const follows = new Map(stored.follows.map((row) => [followField(row.conversation, row.threadTs), row]));
	const missing: ReadFact[] = [];
	for (const { conversation, membership } of membershipEntries(fields)) {
		const field = membershipField(conversation);
		if (membership.at <= since || hasMembership(memberships.get(field), membership)) continue;
		const { member, joined, at } = membership;
		// Redis does not tell a mark from a preference: both are reported, in their current state.
		memberships.set(field, { conversation, member, joinedTs: joined, changedTs: at, preferredTs: at });
		if (member)
			missing.push(
				cursorFact(user, conversation, membership),
				preferenceFact(user, conversation, membership),
			);
	}
	for (const { conversation, threadTs, follow } of followEntries(fields)) {
		const field = followField(conversation, threadTs);
		if (follow.at <= since || hasFollow(follows.get(field), follow)) continue;
		const { since: began, at } = follow;
		follows.set(field, { conversation, threadTs, active: true, since: began, changedTs: at });
		missing.push(threadFact(user, conversation, threadTs, follow));
	}
	return { own: { memberships: [...memberships.values()], follows: [...follows.values()] }, missing };
}

const hasMembership = (row: OwnMembership | undefined, { joined, at }: RedisMembership): boolean =>
	row !== undefined && row.joinedTs >= joined && Math.max(row.changedTs, row.preferredTs) >= at;

const hasFollow = (row: OwnFollow | undefined, { since, at }: RedisFollow): boolean =>
	row !== undefined && row.since >= since && row.changedTs >= at;
