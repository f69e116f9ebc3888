import { afterEach, expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import type { Topic } from '../../src/engine/ports/bus.ts';
import type { SyncResult } from '../../src/unread/sync.ts';
import { TestSocket } from '../support/socket.ts';
import { listeningGateway, NOTHING_MISSED } from './listening-gateway.ts';
import { admissionOf, random, TEAM, userNamed } from './support.ts';

/** A socket that is closed while an event is being delivered must not make another socket miss that event. */

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

/** Nine of these exceed what a resuming socket may hold back. */
const LARGE = 'x'.repeat(500_000);
const EVENTS = 12;

/** The first socket never finishes resuming; the others are live. */
async function scene(topic: Topic, users: readonly string[]) {
	const bus = new MemoryBus();
	const tickets = new MemoryTickets(Date.now, random);
	let resumes = 0;
	const gateway = listeningGateway({
		tickets,
		bus,
		memberships: async () => [{ conversation: 'C1' }],
		missed: () =>
			++resumes === 1 ? new Promise<SyncResult>(() => undefined) : Promise.resolve(NOTHING_MISSED),
	});
	closing.push(gateway.stop);
	const open = async (id: string) => {
		const admission = admissionOf(userNamed(id));
		return new TestSocket(`ws://127.0.0.1:${gateway.port}/rtm?ticket=${await tickets.issue(admission)}`);
	};
	const stalled = await open(users[0] as string);
	while (resumes === 0) await Bun.sleep(1);
	const listeners = await Promise.all(users.slice(1).map(open));
	for (const listener of listeners) await listener.seen({ type: 'hello' });
	for (let number = 0; number < EVENTS; number += 1) {
		bus.publish(topic, { type: 'event', frame: JSON.stringify({ type: 'large', number, LARGE }) });
		await Promise.all(listeners.map((listener) => listener.settled()));
	}
	expect((await stalled.closed).code).toBe(4001);
	for (const listener of listeners) {
		const numbers = listener.having({ type: 'large' }).map(({ number }) => number);
		expect(numbers).toEqual([...Array(EVENTS).keys()]);
		listener.close();
	}
}

test('another socket of the same user', () => scene('user:U1', ['U1', 'U1', 'U1']));
test('a socket of another user in the same conversation', () => scene('live:C1', ['U1', 'U2', 'U3']));
test('a socket of another user in the same workspace', () => scene(`team:${TEAM}`, ['U1', 'U2', 'U3']));
