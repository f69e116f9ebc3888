import { expect, test } from 'bun:test';
import type { Conversations } from './conversations.ts';
import { packMembership } from './packing.ts';
import { MOST_TRIES, type ReadUser, Rows } from './rows.ts';
import { membershipField, STAMP } from './user-state.ts';

/** A row has a mark and a count of one moment, whatever happens between the two. */

const FIELD = membershipField('C01');
const userAt = (stamp: number, cursor: number): ReadUser => ({
	id: 'U01',
	starts: [],
	fields: {
		[STAMP]: String(stamp),
		[FIELD]: packMembership({
			member: true,
			muted: false,
			level: 'all',
			cursor,
			revision: 0,
			joined: 1,
			at: stamp,
			ahead: new Set(),
		}),
	},
});

/** Twenty messages, at 1 to 20; every count may have something happen before it. */
function rowsWith(before: (count: number) => void) {
	const counts: number[] = [];
	const conversations = {
		count: async (_: unknown, { cursor }: { readonly cursor: number }) => {
			counts.push(cursor);
			before(counts.length);
			const unread = 20 - cursor;
			return {
				kind: 'public',
				archived: false,
				stamp: 100 + counts.length,
				latest: 20,
				counts: { unread, mentions: 0, named: 0, namedInThreadOnly: 0 },
			};
		},
	};
	return { rows: new Rows(conversations as unknown as Conversations), counts };
}

test('a mark that comes while it is counted is in the row', async () => {
	let user = userAt(50, 5);
	const { rows, counts } = rowsWith((count) => {
		if (count === 1) user = userAt(60, 15);
	});
	const row = await rows.atOnce('C01', async () => user);
	expect(row).toMatchObject({ lastRead: 15, unread: 5, position: { conversation: 102, user: 60 } });
	expect(counts).toEqual([5, 15]);
});

test('also one with a clock that is behind, which leaves the stamp as it was', async () => {
	let user = userAt(50, 5);
	const { rows } = rowsWith((count) => {
		if (count === 1) user = { ...userAt(49, 15), fields: { ...userAt(49, 15).fields, [STAMP]: '50' } };
	});
	expect(await rows.atOnce('C01', async () => user)).toMatchObject({ lastRead: 15, unread: 5 });
});

test('of somebody who marks without a pause there is a row all the same, of somebody who left there is none', async () => {
	let stamp = 50;
	const { rows, counts } = rowsWith(() => undefined);
	const row = await rows.atOnce('C01', async () => {
		stamp += 1;
		return userAt(stamp, 5);
	});
	expect([row?.unread, counts.length]).toEqual([15, MOST_TRIES]);
	expect(await rows.atOnce('C02', async () => userAt(50, 5))).toBeNull();
});
