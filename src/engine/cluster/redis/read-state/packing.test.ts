import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { packMembership, unpackMembership } from './packing.ts';

const micros = fc.integer({ min: 0, max: 2 ** 53 - 1 });

test('a membership survives packing, whatever its times', () => {
	const memberships = fc.record({
		member: fc.boolean(),
		muted: fc.boolean(),
		level: fc.constantFrom('all' as const, 'mentions' as const, 'none' as const),
		cursor: micros,
		revision: fc.integer({ min: 0, max: 1_000_000 }),
		joined: micros,
		at: micros,
		ahead: fc.uniqueArray(micros, { maxLength: 4 }).map((all) => new Set(all)),
	});
	fc.assert(
		fc.property(memberships, (membership) => {
			expect(unpackMembership(packMembership(membership))).toEqual(membership);
		}),
	);
});

test('a usual membership is short', () => {
	const now = 1_763_000_000_123_456;
	const usual = { member: true, muted: false, level: 'all', revision: 0, ahead: new Set<number>() } as const;
	const packed = packMembership({
		...usual,
		at: now,
		cursor: now - 2_345_678,
		joined: now - 90 * 86_400e6,
	});
	expect(packed.length).toBeLessThanOrEqual(28);
});
