import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CountRow } from '../../src/engine/ports/read-state.ts';
import { encodeCounts } from '../../src/gateway/http/counts-encoder.ts';
import { formatPosition } from '../../src/model/position.ts';
import { countFields } from '../../src/protocol/objects.ts';

const stamp = fc.integer({ min: 0, max: 9_007_199_254_740_991 });
const count = fc.integer({ min: 0, max: 10_000 });

const rows: fc.Arbitrary<CountRow> = fc.record({
	conversation: fc.stringMatching(/^[CDG][A-Z0-9]{2,20}$/),
	kind: fc.constantFrom('public', 'private', 'mpim', 'im'),
	latest: stamp,
	lastRead: stamp,
	revision: fc.integer({ min: 0, max: 999_999_999_999_999 }),
	muted: fc.boolean(),
	level: fc.constantFrom('all', 'mentions', 'none'),
	position: fc.record({ conversation: stamp, user: stamp }),
	unread: count,
	unreadDisplay: count,
	mentions: count,
	badge: count,
	capped: fc.boolean(),
});

test('the bytes say what countFields says, row for row', () => {
	const counts = fc.record({
		rows: fc.array(rows, { maxLength: 30 }),
		threads: fc.record({ unread: count, mentions: count, badge: count }),
		badge: fc.integer({ min: 0, max: 1_000_000_000 }),
		stamp,
	});
	fc.assert(
		fc.property(counts, (given) => {
			const shown = (...kinds: string[]) =>
				given.rows
					.filter((row) => kinds.includes(row.kind))
					.map((row) => ({ id: row.conversation, ...countFields(row) }));
			const expected = {
				ok: true,
				threads: {
					has_unreads: given.threads.unread > 0,
					unread_count: given.threads.unread,
					mention_count: given.threads.mentions,
					badge_count: given.threads.badge,
				},
				channels: shown('public', 'private'),
				mpims: shown('mpim'),
				ims: shown('im'),
				badge: given.badge,
				position: formatPosition(given.stamp),
			};
			expect(new TextDecoder().decode(encodeCounts(given))).toBe(JSON.stringify(expected));
		}),
	);
});
