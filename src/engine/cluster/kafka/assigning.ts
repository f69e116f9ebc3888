import { cooperativeStickyAssigner, type GroupPartitionsAssigner } from '@platformatic/kafka';

/**
 * Which member of the group gets which partition: cooperative and sticky, among the members that can do their work. A member
 * that is cut off from Redis or PostgreSQL joins each round as unfit, and its partitions go to fit members.
 *
 * Where nobody is fit, the service is down for everybody and moving partitions would help nobody: owners keep theirs.
 * A partition is revoked one round before it is assigned again, so that its owner can release it.
 */

type Members = Parameters<GroupPartitionsAssigner>[1];

const UNFIT = 'unfit';

/** What a member joins a round with. */
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
