import { expect, test } from 'bun:test';
import type { GroupPartitionsAssigner } from '@platformatic/kafka';
import { assignToFit, subscriptionData } from './assigning.ts';

const TOPIC = 'conversations';
type Members = Parameters<GroupPartitionsAssigner>[1];
type Metadata = Parameters<GroupPartitionsAssigner>[3];

interface Member {
	readonly fit: boolean;
	readonly owns: readonly number[];
}

/** What each member has after one round on four partitions. */
function round(members: Readonly<Record<string, Member>>): Record<string, readonly number[]> {
	const joined = Object.entries(members).map(([memberId, { fit, owns }]) => [
		memberId,
		{
			memberId,
			version: 3,
			topics: [TOPIC],
			metadata: subscriptionData(fit),
			ownedPartitions: owns.length > 0 ? [{ topic: TOPIC, partitions: owns }] : [],
			generationId: owns.length > 0 ? 7 : -1,
			rackId: null,
		},
	]);
	const metadata = { topics: new Map([[TOPIC, { partitionsCount: 4 }]]) } as unknown as Metadata;
	const assigned = assignToFit('a', new Map(joined as never) as Members, new Set([TOPIC]), metadata);
	return Object.fromEntries(
		assigned.map(({ memberId, assignments }) => [memberId, assignments.get(TOPIC)?.partitions ?? []]),
	);
}

test('an unfit member has no partition after one round, and the fit ones have all after the next', () => {
	const first = round({ a: { fit: true, owns: [0, 1] }, b: { fit: false, owns: [2, 3] } });
	expect(first).toEqual({ a: [0, 1], b: [] });
	expect(round({ a: { fit: true, owns: [0, 1] }, b: { fit: false, owns: [] } })).toEqual({
		a: [0, 1, 2, 3],
		b: [],
	});
});

test('a member that is fit again gets its share after two rounds', () => {
	const first = round({ a: { fit: true, owns: [0, 1, 2, 3] }, b: { fit: true, owns: [] } });
	expect([first.a?.length, first.b]).toEqual([2, []]);
	const second = round({ a: { fit: true, owns: first.a ?? [] }, b: { fit: true, owns: [] } });
	expect([second.a, second.b?.length]).toEqual([first.a as number[], 2]);
});

test('if no member is fit, nothing moves, and partitions without an owner are still assigned', () => {
	const unequal = { a: { fit: false, owns: [0, 1, 2, 3] }, b: { fit: false, owns: [] } };
	expect(round(unequal)).toEqual({ a: [0, 1, 2, 3], b: [] });
	const equal = { a: { fit: false, owns: [0, 1] }, b: { fit: false, owns: [2, 3] } };
	expect(round(equal)).toEqual({ a: [0, 1], b: [2, 3] });
	const some = round({ a: { fit: false, owns: [0, 1] }, b: { fit: false, owns: [2] } });
	expect([...(some.a ?? []), ...(some.b ?? [])].sort()).toEqual([0, 1, 2, 3]);
	const none = round({ a: { fit: false, owns: [] }, b: { fit: false, owns: [] } });
	expect([none.a?.length, none.b?.length]).toEqual([2, 2]);
});
