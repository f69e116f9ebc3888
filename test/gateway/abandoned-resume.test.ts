import { afterEach, expect, test } from 'bun:test';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import { FairGate } from '../../src/gateway/fair-gate.ts';
import { Sync, type SyncParts } from '../../src/unread/sync.ts';
import { TestSocket } from '../support/socket.ts';
import { listeningGateway, NOTHING_MISSED } from './listening-gateway.ts';
import { admissionOf, random, userNamed } from './support.ts';

/** The server does not read missed events for a client that has gone: it may come back and ask again, without end. */

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

test('a socket that closes while its session starts does not resume', async () => {
	const tickets = new MemoryTickets(Date.now, random);
	const waiting = Promise.withResolvers<void>();
	const asked = Promise.withResolvers<void>();
	let resumed = 0;
	const gateway = listeningGateway({
		tickets,
		memberships: async () => {
			asked.resolve();
			await waiting.promise;
			return [];
		},
		missed: async () => {
			resumed += 1;
			return NOTHING_MISSED;
		},
	});
	closing.push(gateway.stop);
	const ticket = async () => tickets.issue(admissionOf(userNamed('U1')));
	const open = async () => new TestSocket(`ws://127.0.0.1:${gateway.port}/rtm?ticket=${await ticket()}`);
	const abandoned = await open();
	await asked.promise;
	abandoned.close();
	await abandoned.closed;
	while (gateway.hub.users > 0) await Bun.sleep(1);
	waiting.resolve();
	const next = await open();
	await next.seen({ type: 'hello' });
	expect(resumed).toBe(1);
	next.close();
});

test('a resume that waits for its turn reads nothing if its client has gone', async () => {
	const gate = new FairGate(1);
	const sizes: number[] = [];
	const parts = largeResume(sizes, gate);
	const turn = Promise.withResolvers<void>();
	const running = gate.run('U2', () => turn.promise);
	let isGone = false;
	const abandoned = new Sync(parts).missed('U1', 1, false, () => !isGone);
	while (sizes.length === 0) await Bun.sleep(1);
	isGone = true;
	turn.resolve();
	await Promise.all([running, abandoned]);
	expect(sizes).toHaveLength(1);
	await new Sync(parts).missed('U1', 1);
	expect(sizes).toHaveLength(3);
});

/** A user who missed too much for a small read. `sizes`: the limits of the reads. */
function largeResume(sizes: number[], gate: FairGate): SyncParts {
	const snapshot = { stamp: 9, position: 9, horizon: 0, ownStamp: 0, lateness: 0, visibleUpTo: 9 };
	return {
		views: { read: async () => ({ ...snapshot, conversations: [], rows: [], threads: [] }) },
		changes: {
			own: async () => ({ memberships: [], follows: [] }),
			inside: async ({ most }: { most: { bytes: number } }) => {
				sizes.push(most.bytes);
				return null;
			},
		},
		mostChanges: 10,
		inTurn: gate.run.bind(gate),
	} as unknown as SyncParts;
}
