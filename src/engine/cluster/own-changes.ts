import type { OwnChanges, OwnFollow, OwnMembership } from '../ports/changes.ts';
import type { ReadFact } from '../ports/facts.ts';
import type { Follow, Membership } from './redis/read-state/packing.ts';
import { cursorFact, preferenceFact, threadFact } from './redis/read-state/standing-facts.ts';
import {
	type Fields,
	followEntries,
	followField,
	membershipEntries,
	membershipField,
} from './redis/read-state/user-state.ts';

/**
 * What changed about a user, by both who know of it. The store has what was taken from the log: marks a moment late, and much
 * later where the log is away. Redis has every mark before it is acknowledged, but nothing of what one follows no more. So of
 * each membership and follow whoever knows the later change is believed. Pure.
 */

export interface OwnStanding {
	readonly own: OwnChanges;
	/** What the store lacks, as whoever marked should have told the log. */
	readonly lacking: readonly ReadFact[];
}

/** Of the user's own rows those that changed after a stamp: as stored, and as in Redis. */
export function withStanding(user: string, stored: OwnChanges, fields: Fields, since: number): OwnStanding {
	const memberships = new Map(stored.memberships.map((row) => [membershipField(row.conversation), row]));
	const follows = new Map(stored.follows.map((row) => [followField(row.conversation, row.threadTs), row]));
	const lacking: ReadFact[] = [];
	for (const { conversation, membership } of membershipEntries(fields)) {
		const field = membershipField(conversation);
		if (membership.at <= since || hasMembership(memberships.get(field), membership)) continue;
		const { member, joined, at } = membership;
		// Redis does not tell a mark from a preference: both are told then, as they stand.
		memberships.set(field, { conversation, member, joinedTs: joined, changedTs: at, preferredTs: at });
		if (member)
			lacking.push(
				cursorFact(user, conversation, membership),
				preferenceFact(user, conversation, membership),
			);
	}
	for (const { conversation, threadTs, follow } of followEntries(fields)) {
		const field = followField(conversation, threadTs);
		if (follow.at <= since || hasFollow(follows.get(field), follow)) continue;
		const { since: began, at } = follow;
		follows.set(field, { conversation, threadTs, active: true, since: began, changedTs: at });
		lacking.push(threadFact(user, conversation, threadTs, follow));
	}
	return { own: { memberships: [...memberships.values()], follows: [...follows.values()] }, lacking };
}

const hasMembership = (row: OwnMembership | undefined, { joined, at }: Membership): boolean =>
	row !== undefined && row.joinedTs >= joined && Math.max(row.changedTs, row.preferredTs) >= at;

const hasFollow = (row: OwnFollow | undefined, { since, at }: Follow): boolean =>
	row !== undefined && row.since >= since && row.changedTs >= at;
