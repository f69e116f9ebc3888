import { afterAll, afterEach, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/**
 * A send repeated by the same user in the same conversation with the same client_msg_id within 24 hours
 * creates nothing new and answers with the first ts.
 */

const HOUR_MS = 3_600_000;

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;
let names = 0;

beforeAll(async () => {
	server = await startServer();
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
});
afterAll(() => server.stop());
beforeEach(async () => {
	channel = await newChannel();
});
afterEach(() => {
	setSystemTime();
});

async function newChannel(): Promise<string> {
	names += 1;
	const { channel: made } = await ada.call('conversations.create', { name: `once-${names}` });
	await ada.call('conversations.invite', { channel: made.id, users: grace.id });
	return made.id;
}

const send = (person: Person, to: string, id: string, text = 'hello', extra = {}) =>
	person.call('chat.postMessage', { channel: to, text, client_msg_id: id, ...extra });

async function texts(of = channel): Promise<string[]> {
	const { messages } = await ada.call('conversations.history', { channel: of });
	return messages.map(({ text }: { text: string }) => text).toReversed();
}

const unreadOf = async (person: Person): Promise<number> =>
	(await person.call('conversations.info', { channel })).channel.unread_count;

test('a repeated send returns the first message, whatever the second one contains', async () => {
	const first = await send(ada, channel, 'one', 'first');
	const second = await send(ada, channel, 'one', 'second');
	expect(second.ts).toBe(first.ts);
	expect(second.message).toMatchObject({ text: 'first', client_msg_id: 'one' });
	expect(await texts()).toEqual(['first']);
	expect(await unreadOf(grace)).toBe(1);
});

test('the same id from another user, or in another conversation, is another message', async () => {
	const other = await newChannel();
	const sent = [
		await send(ada, channel, 'two'),
		await send(grace, channel, 'two'),
		await send(ada, other, 'two'),
	];
	expect(new Set(sent.map(({ ts }) => ts)).size).toBe(3);
	expect(await texts()).toHaveLength(2);
	expect(await texts(other)).toHaveLength(1);
});

test('sends without an id, or with an empty one, never count as repetitions', async () => {
	const socket = await connect(ada);
	await ada.call('chat.postMessage', { channel, text: 'a' });
	await ada.call('chat.postMessage', { channel, text: 'a' });
	await send(ada, channel, '', 'b');
	await send(ada, channel, '', 'b');
	for (const text of ['c', 'c']) await socket.ask({ type: 'message', channel, text, client_msg_id: '' });
	expect(await texts()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});

test('concurrent repetitions, over HTTP and the socket, create one message and one event', async () => {
	const [socket, listener] = [await connect(ada), await connect(grace)];
	const repeats = Array.from({ length: 20 }, async (_, index) => {
		const args = { channel, text: `attempt ${index}`, client_msg_id: 'three' };
		const answer =
			index % 2 === 0
				? await ada.call('chat.postMessage', args)
				: await socket.ask({ type: 'message', ...args });
		expect(answer.ok).toBe(true);
		return answer.ts;
	});
	const stamps = new Set(await Promise.all(repeats));
	expect(stamps.size).toBe(1);
	expect(await texts()).toHaveLength(1);
	await listener.settled();
	expect(listener.having({ type: 'message', channel })).toHaveLength(1);
	expect(await unreadOf(grace)).toBe(1);
});

test('over the socket, a repetition is answered with the first ts and the current text', async () => {
	const socket = await connect(ada);
	const frame = { type: 'message', channel, client_msg_id: 'four' };
	const first = await socket.ask({ ...frame, text: 'first' });
	const second = await socket.ask({ ...frame, text: 'second' });
	expect(second).toMatchObject({ ok: true, ts: first.ts, text: 'first' });
	expect((await send(ada, channel, 'four')).ts).toBe(first.ts);
	expect(await texts()).toEqual(['first']);
});

test('a repetition is recognised after a restart', async () => {
	const { ts } = await send(ada, channel, 'five');
	await server.restart();
	expect((await send(ada, channel, 'five')).ts).toBe(ts);
	expect(await texts()).toHaveLength(1);
});

test('a repeated reply creates no second reply', async () => {
	const root = await send(ada, channel, 'root');
	const reply = { thread_ts: root.ts };
	const first = await send(grace, channel, 'six', 'reply', reply);
	expect((await send(grace, channel, 'six', 'reply', reply)).ts).toBe(first.ts);
	const { messages } = await ada.call('conversations.replies', { channel, ts: root.ts });
	expect(messages[0].reply_count).toBe(1);
	expect(messages).toHaveLength(2);
});

test('repeating a send that was edited or deleted since creates nothing', async () => {
	const edited = await send(ada, channel, 'seven', 'first');
	await ada.call('chat.update', { channel, ts: edited.ts, text: 'edited' });
	expect((await send(ada, channel, 'seven', 'first')).ts).toBe(edited.ts);
	expect(await texts()).toEqual(['edited']);
	await ada.call('chat.delete', { channel, ts: edited.ts });
	expect((await send(ada, channel, 'seven', 'first')).ts).toBe(edited.ts);
	expect(await texts()).toEqual([]);
});

test('a rejected send may be repeated', async () => {
	await ada.call('conversations.archive', { channel });
	await expect(send(ada, channel, 'eight')).rejects.toThrow('is_archived');
	await ada.call('conversations.unarchive', { channel });
	await send(ada, channel, 'eight');
	expect(await texts()).toHaveLength(1);
});

test('within 24 hours a send is a repetition, later a new message, also after a restart', async () => {
	const sentAt = Date.now();
	const { ts } = await send(ada, channel, 'nine', 'first day');
	expect((await send(ada, channel, 'nine', 'same day')).ts).toBe(ts);
	// A running server does not follow a clock that is set forward; a starting one does.
	setSystemTime(sentAt + 23 * HOUR_MS);
	await server.restart();
	expect((await send(ada, channel, 'nine', 'same day')).ts).toBe(ts);
	setSystemTime(sentAt + 25 * HOUR_MS);
	await server.restart();
	const later = await send(ada, channel, 'nine', 'next day');
	expect(later.ts > ts).toBe(true);
	expect((await send(ada, channel, 'nine', 'next day')).ts).toBe(later.ts);
	await server.restart();
	expect((await send(ada, channel, 'nine', 'next day')).ts).toBe(later.ts);
	expect(await texts()).toEqual(['first day', 'next day']);
});
