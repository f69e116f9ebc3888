import { expect, test } from 'bun:test';
import type { Connection } from '../../src/gateway/socket/connection.ts';
import { FocusMarks } from '../../src/gateway/socket/focus-marks.ts';
import { Receipts } from '../../src/gateway/socket/receipts.ts';

/**
 * The messages that focus has to mark are bounded, whatever the store and the device do: beyond the limit the oldest
 * stay unread.
 */

const MOST = 10_000;

test('the next mark takes the newest messages that were confirmed while a mark was in flight', async () => {
	const marked: (readonly number[])[] = [];
	const { promise: slow, resolve: release } = Promise.withResolvers<void>();
	const marks = new FocusMarks({
		marking: {
			mark: async (_user, _conversation, mark) => {
				if (mark.type === 'messages') marked.push(mark.tss);
				await slow;
				return null as never;
			},
		},
		isActive: async () => true,
		failed: (error) => {
			throw error;
		},
	});
	const place = { user: 'U1', conversation: 'C1', revision: 0 };
	for (let ts = 1; ts <= MOST + 501; ts += 1) marks.add(place, [ts]);
	release();
	while (marks.inFlight > 0) await Bun.sleep(1);
	expect(marked.map((tss) => [tss[0], tss.length])).toEqual([
		[1, 1],
		[502, MOST],
	]);
});

test('of the unconfirmed messages, the newest are kept', () => {
	const confirmed: number[] = [];
	const receipts = new Receipts({
		ping: () => 1,
		confirmed: (_connection, delivered) => confirmed.push(delivered.length),
	});
	const connection = {} as Connection;
	const deliver = (ts: number) => receipts.delivered(connection, { conversation: 'C1', ts, revision: 0 });
	deliver(1);
	for (let ts = 2; ts <= MOST + 500; ts += 1) deliver(ts);
	receipts.ponged(connection, 1);
	expect(confirmed).toEqual([1]);
	expect(receipts.unconfirmed(connection)).toBe(MOST);
	receipts.ended(connection);
});
