import type { OwnChanges, OwnFollow, OwnMembership } from '../ports/changes.ts';
import type { ReadFact } from '../ports/facts.ts';
import type { Follow, StoredMembership } from './redis/read-state/packing.ts';
import { cursorFact, preferenceFact, threadFact } from './redis/read-state/read-facts.ts';
import {
	type Fields,
	followEntries,
	followField,
	membershipEntries,
	membershipField,
} from './redis/read-state/user-state.ts';

/**
 * What changed about a user, by both who know of it. The store has what was taken from the log: marks a moment late, and much
 * later while the log is unavailable. Redis has every mark before it is acknowledged, but not what the user no longer follows. So of
 * each membership and follow, the side with the later change wins. Pure.
 */

export interface MergedChanges {
	readonly own: OwnChanges;
	/** What the store lacks, as it should have been appended to the log. */
	readonly missing: readonly ReadFact[];
}

/** Of the user's own rows those that changed after a stamp: as stored, and as in Redis. */
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
		// Redis does not distinguish a mark from a preference: both are sent then, in their current state.
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

const hasMembership = (row: OwnMembership | undefined, { joined, at }: StoredMembership): boolean =>
	row !== undefined && row.joinedTs >= joined && Math.max(row.changedTs, row.preferredTs) >= at;

const hasFollow = (row: OwnFollow | undefined, { since, at }: Follow): boolean =>
	row !== undefined && row.since >= since && row.changedTs >= at;
