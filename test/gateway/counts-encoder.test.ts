import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CountRow, UserCounts } from '../../src/engine/ports/read-state.ts';
import { CountsEncoder } from '../../src/gateway/http/counts-encoder.ts';
import { EncodedAnswer, success } from '../../src/gateway/http/envelope.ts';
import { MemoryBudget } from '../../src/gateway/memory-budget.ts';
import { formatPosition } from '../../src/model/position.ts';
import { emptyRow } from '../../src/model/rows.ts';
import { countFields } from '../../src/protocol/objects.ts';

const rowOf = (conversation: string): CountRow => ({ ...emptyRow(), conversation });

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

test('the encoded bytes equal countFields, row by row', () => {
	const counts = fc.record({
		rows: fc.array(rows, { maxLength: 30 }),
		threads: fc.record({
			unread: count,
			mentions: count,
			badge: count,
			version: fc.record({ user: count, conversations: count }),
		}),
		badge: fc.integer({ min: 0, max: 1_000_000_000 }),
		position: stamp,
	});
	fc.assert(
		fc.property(counts, (given) => {
			const shown = (...kinds: string[]) =>
				given.rows
					.filter((row) => kinds.includes(row.kind))
					.map((row) => ({ id: row.conversation, ...countFields(row) }));
			const expected = {
				ok: true,
				channels: shown('public', 'private'),
				mpims: shown('mpim'),
				ims: shown('im'),
				threads: {
					has_unreads: given.threads.unread > 0,
					unread_count: given.threads.unread,
					mention_count: given.threads.mentions,
					badge_count: given.threads.badge,
					version: [given.threads.version.user, given.threads.version.conversations]
						.map(formatPosition)
						.join(''),
				},
				badge: given.badge,
				position: formatPosition(given.position),
			};
			expect(encoded(given)).toBe(JSON.stringify(expected));
		}),
	);
});

test('rows from before the last begin() are discarded', () => {
	const encoder = new CountsEncoder();
	encoder.begin(2);
	encoder.row(rowOf('C0VOID'));
	encoder.row({ ...rowOf('D0VOID'), kind: 'im' });
	encoder.begin(1);
	encoder.row(rowOf('C0TRUE'));
	const { channels, ims } = JSON.parse(new TextDecoder().decode(encoder.finish(NO_TOTALS)));
	expect([channels.map(({ id }: { id: string }) => id), ims]).toEqual([['C0TRUE'], []]);
});

test('more rows than announced fit', () => {
	const encoder = new CountsEncoder();
	encoder.begin(1);
	const ids = Array.from({ length: 500 }, (_, index) => `C0MANY${index}`);
	for (const id of ids) encoder.row(rowOf(id));
	const { channels } = JSON.parse(new TextDecoder().decode(encoder.finish(NO_TOTALS)));
	expect(channels.map(({ id }: { id: string }) => id)).toEqual(ids);
});

test.each([1, 10_000])('a response of %p rows stays unchanged when its buffer is reused', async (count) => {
	const responseOf = (letter: string): Response => {
		const encoder = new CountsEncoder();
		encoder.begin(count);
		for (let index = 0; index < count; index += 1) encoder.row(rowOf(`C${letter}${index}`));
		return success(new EncodedAnswer(encoder.finish(NO_TOTALS), () => encoder.release()), TAKER);
	};
	const first = responseOf('FIRST');
	const second = responseOf('OTHER');
	expect((await first.text()).match(/FIRST/g)?.length).toBe(count);
	expect((await second.text()).match(/OTHER/g)?.length).toBe(count);
});

const ROOM = { totalBytes: 1 << 26, shareBytes: 1 << 26, nowMs: Date.now };
const TAKER = { key: 'U1', budget: new MemoryBudget(ROOM), rewriteOrigin: (json: string) => json };
const NO_TOTALS = {
	threads: { unread: 0, mentions: 0, badge: 0, version: { user: 1, conversations: 1 } },
	badge: 0,
	position: 0,
};

function encoded({ rows, ...totals }: UserCounts): string {
	const encoder = new CountsEncoder();
	encoder.begin(rows.length);
	for (const row of rows) encoder.row(row);
	const text = new TextDecoder().decode(encoder.finish(totals));
	encoder.release();
	return text;
}
