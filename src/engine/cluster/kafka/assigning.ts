import { cooperativeStickyAssigner, type GroupPartitionsAssigner } from '@platformatic/kafka';

/**
 * Assigns partitions to the members of the group: cooperative and sticky, among members that are fit. A member
 * that cannot reach Redis or PostgreSQL joins each round (a rebalance of the group) as unfit, and its partitions go to fit members.
 *
 * If no member is fit, a service is down for all of them and moving partitions would not help: owners keep theirs.
 * A partition is revoked one round before it is assigned again, so that its owner can release it.
 */

type Members = Parameters<GroupPartitionsAssigner>[1];

const UNFIT = 'unfit';

/** The data that a member sends when it joins a round. */
export const subscriptionData = (isFit: boolean): Buffer => Buffer.from(isFit ? '' : UNFIT);

export const assignToFit: GroupPartitionsAssigner = (current, members, topics, metadata) => {
	const candidates = candidatesOf(members);
	const assigned = cooperativeStickyAssigner(current, candidates, topics, metadata);
	if (candidates.size === members.size) return assigned;
	const others = [...members.keys()].filter((id) => !candidates.has(id));
	const held = new Set(others.flatMap((id) => ownedBy(members, id)));
	return [
		...assigned.map(({ memberId, assignments }) => ({
			memberId,
			assignments: new Map(
				[...assignments].map(([topic, { partitions }]) => [
					topic,
					{ topic, partitions: partitions.filter((partition) => !held.has(`${topic}/${partition}`)) },
				]),
			),
		})),
		...others.map((memberId) => ({ memberId, assignments: new Map() })),
	];
};

function candidatesOf(members: Members): Members {
	const fit = [...members].filter(([, { metadata }]) => String(metadata ?? '') !== UNFIT);
	if (fit.length > 0) return new Map(fit);
	const owners = [...members].filter(([id]) => ownedBy(members, id).length > 0);
	return owners.length > 0 ? new Map(owners) : members;
}

const ownedBy = (members: Members, id: string): string[] =>
	(members.get(id)?.ownedPartitions ?? []).flatMap(({ topic, partitions }) =>
		partitions.map((partition) => `${topic}/${partition}`),
	);
