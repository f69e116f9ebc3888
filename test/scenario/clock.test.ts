import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from 'bun:test';
import { risingClock } from '../../src/model/ts.ts';
import { rawClient } from '../support/api.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** A machine's clock jumps back 10 seconds: later changes still get later stamps. */

const JUMP_MS = 10_000;

let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer();
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
});
afterAll(() => server.stop());
afterEach(() => {
	setSystemTime();
});

async function newChannel(name: string): Promise<string> {
	const { channel } = await ada.call('conversations.create', { name });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	return channel.id;
}

const say = async (channel: string, text: string): Promise<string> =>
	(await ada.call('chat.postMessage', { channel, text })).ts;

const rowOf = async (person: Person, channel: string) =>
	(await person.call('client.counts')).channels.find(({ id }: { id: string }) => id === channel);

test('stamps rise by at least one, whatever the machine’s clock does', () => {
	const times = [100, 100, 90, 95, 101, 200];
	const clock = risingClock(() => times.shift() ?? 0, 98);
	expect(Array.from({ length: 6 }, () => clock.next())).toEqual([100, 101, 102, 103, 104, 200]);
	expect(risingClock(() => 5, 98).next()).toBe(99);
});

test('a clock that jumps back changes neither the order of messages nor counts, marks and joins', async () => {
	const channel = await newChannel('jump');
	const listener = await connect(grace);
	const before = [await say(channel, 'one'), await say(channel, 'two')];
	const read = await grace.call('conversations.mark', { channel, ts: before[1] });
	setSystemTime(Date.now() - JUMP_MS);
	const after = [await say(channel, 'three'), await say(channel, 'four')];
	const all = [...before, ...after];
	expect(all).toEqual(all.toSorted());
	expect(new Set(all).size).toBe(all.length);
	const received = await listener.all(4, { type: 'message', channel });
	expect(received.map(({ prev_ts }) => prev_ts)).toEqual(['0000000000.000000', ...all.slice(0, 3)]);

	expect(await rowOf(grace, channel)).toMatchObject({ unread_count: 2, latest: after[1] });
	const marked = await grace.call('conversations.mark', { channel, ts: after[1] });
	expect(marked).toMatchObject({ unread_count: 0, last_read: after[1] });
	expect(marked.position > read.position).toBe(true);
	const unread = await grace.call('conversations.markUnread', { channel, ts: after[0] });
	expect(unread.position > marked.position).toBe(true);

	// In a channel created after the jump, a rejoin gets a stamp after the messages before it, too.
	const later = await newChannel('made-after-the-jump');
	await say(later, 'five');
	await grace.call('conversations.leave', { channel: later });
	await say(later, 'while away');
	await grace.call('conversations.join', { channel: later });
	expect(await rowOf(grace, later)).toMatchObject({ unread_count: 0 });
	await say(later, 'six');
	expect(await rowOf(grace, later)).toMatchObject({ unread_count: 1 });
});

test('a restart with a clock 10 seconds behind continues after the newest stamp', async () => {
	const channel = await newChannel('restart');
	const before = await say(channel, 'before');
	const read = await grace.call('conversations.mark', { channel, ts: before });
	const hello = await (await connect(grace)).seen({ type: 'hello' });
	setSystemTime(Date.now() - JUMP_MS);
	await server.restart();
	const socket = await connect(grace);
	expect((await socket.seen({ type: 'hello' })).position >= hello.position).toBe(true);
	const after = await say(channel, 'after');
	expect(after > before).toBe(true);
	expect(await socket.seen({ type: 'message', ts: after })).toMatchObject({ prev_ts: before });
	const row = await rowOf(grace, channel);
	expect(row).toMatchObject({ unread_count: 1, last_read: before, latest: after });
	expect(row.position > read.position).toBe(true);
	const marked = await grace.call('conversations.mark', { channel, ts: after });
	expect(marked.position > row.position).toBe(true);
	const { messages } = await ada.call('conversations.history', { channel });
	expect(messages.map(({ text }: { text: string }) => text)).toEqual(['after', 'before']);
});

test('a jump forward that is corrected does not affect the ts of messages', async () => {
	const channel = await newChannel('forward');
	const before = await say(channel, 'before');
	const jumpedAt = Date.now();
	setSystemTime(jumpedAt + 24 * 3600 * 1000);
	const during = await say(channel, 'during');
	const metrics = await (await fetch(`${server.url}/metrics`)).text();
	expect(Number(/^tidemark_clock_drift_seconds (\S+)$/m.exec(metrics)?.[1])).toBeLessThan(-80_000);
	setSystemTime();
	const after = await say(channel, 'after');
	expect([before, during, after]).toEqual([before, during, after].toSorted());
	expect(Number(after)).toBeLessThan(jumpedAt / 1000 + 3_600);
});

test('rate limits do not depend on the wall clock: a day ahead and back blocks nobody', async () => {
	const DAY_MS = 24 * 3600 * 1000;
	const limited = await startServer({ 'requests-per-second': '100' });
	try {
		const [person] = (await makeWorkspace(limited.url, 1)).people as [Person];
		setSystemTime(Date.now() + DAY_MS);
		await person.call('auth.test');
		setSystemTime();
		// Otherwise Retry-After would be a day.
		expect(await rawClient(limited.url, person.token)('auth.test')).toMatchObject({ ok: true });
	} finally {
		await limited.stop();
	}
});
