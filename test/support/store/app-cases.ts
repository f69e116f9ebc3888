import { describe, expect, test } from 'bun:test';
import type { Subject } from './contract.ts';
import { TEAM } from './facts.ts';

/** Ids of apps that may be used a limited number of times, in a store. */

const UNTIL = 1_800_000_000_000;

export function appCases(subject: Subject): void {
	describe('limited uses', () => {
		test.each([1, 5])('of eight uses at once, %i succeed', async (most) => {
			const limited = { id: `r of ${most}`, team: TEAM, untilAt: UNTIL, most };
			const claims = Array.from({ length: 8 }, (_, index) => `claim-${index}`);
			const used = await Promise.all(claims.map((claim) => subject.store.apps.use(limited, claim)));
			expect(used.filter((ok) => ok)).toHaveLength(most);
			expect(await (await subject.reopen()).apps.use(limited, 'late')).toBe(false);
		});

		test('other ids are counted separately, and a use is forgotten when it expires', async () => {
			const { apps } = subject.store;
			const limited = { id: 't one', team: TEAM, untilAt: UNTIL, most: 1 };
			expect(await apps.use(limited, 'first')).toBe(true);
			expect(await apps.use({ ...limited, id: 't two' }, 'second')).toBe(true);
			expect(await apps.use(limited, 'third')).toBe(false);
			await apps.tidy(UNTIL + 1, 0);
			expect(await apps.use(limited, 'fourth')).toBe(true);
		});
	});
}
