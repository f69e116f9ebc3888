import { expect, test } from 'bun:test';
import type { CountRow, CountSink } from '../../src/engine/ports/read-state.ts';
import type { Call, Method } from '../../src/gateway/http/method.ts';
import { clientCounts, clientExplain } from '../../src/gateway/http/methods/client.ts';
import { Limits } from '../../src/gateway/limits.ts';
import { emptyRow } from '../../src/model/rows.ts';
import { HandClock, userNamed } from './support.ts';

/** Calls whose cost is known only after the answer: it is charged then, by the number of rows. */

const BURST = 10;
const off = { perSecond: 0, burst: 0 };

const row = (index: number): CountRow => ({
	...emptyRow(),
	conversation: `C${String(index).padStart(10, '0')}`,
});

/** How many calls are left after one call of a user in this many conversations. */
async function leftAfter(method: Method, conversations: number): Promise<number> {
	const requests = { perSecond: 1, burst: BURST };
	const limits = new Limits({ requests, posts: off, connects: off }, new HandClock().now, () => 0);
	const totals = {
		threads: { unread: 0, mentions: 0, badge: 0, version: { user: 1, conversations: 1 } },
		badge: 0,
		position: 0,
	};
	const rows = Array.from({ length: conversations }, (_, index) => row(index));
	const readState = {
		unread: async () => [],
		counts: async () => ({ ...totals, rows }),
		countsInto: async (_user: string, sink: CountSink) => {
			sink.begin(rows.length);
			for (const one of rows) sink.row(one);
			return totals;
		},
	};
	const call = { services: { limits, readState, history: {} } } as unknown as Call;
	limits.take('U1', 'requests');
	await method.call(
		new Map(),
		{ kind: 'user', user: userNamed('U1') } as Parameters<Method['call']>[1],
		call,
	);
	let left = 0;
	while (limits.take('U1', 'requests') === 0) left += 1;
	return left;
}

for (const [name, method] of [
	['client.counts', clientCounts],
	['client.explain', clientExplain],
] as const)
	test(`${name} counts as several calls for a user in many conversations`, async () => {
		expect(await leftAfter(method, 1)).toBe(BURST - 1);
		expect(await leftAfter(method, 500)).toBe(BURST - 5);
	});
