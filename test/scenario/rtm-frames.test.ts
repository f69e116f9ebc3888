import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** Frames that clients send: their answers, and that rejected frames change nothing. */

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

beforeEach(async () => {
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	channel = (await ada.call('conversations.create', { name: 'general' })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
});

const badMessage = (msg: string) => ({ code: 2, msg });

const unanswerable: [string, string, string][] = [
	['not JSON', '{"type":', 'the frame is not JSON'],
	['a list', '[1,2]', 'the frame is not a JSON object'],
	['null', 'null', 'the frame is not a JSON object'],
	['without a type', '{}', 'type is missing or unknown'],
	['a mark without an id', '{"type":"mark"}', 'id must be a positive whole number'],
	['with an id that is not a number', '{"id":"7","type":"mark"}', 'id must be a positive whole number'],
];
for (const [what, text, msg] of unanswerable) {
	test(`${what}: the client gets an error frame with the reason, and the socket stays open`, async () => {
		const socket = await connect(ada);
		socket.sendText(text);
		expect(await socket.seen({ type: 'error' })).toEqual({ type: 'error', error: badMessage(msg) });
		await socket.settled();
	});
}

const rejected: [string, () => Record<string, unknown>, string][] = [
	['an unknown type', () => ({ type: 'shout' }), 'type is missing or unknown'],
	['a message without text', () => ({ type: 'message', channel }), 'text is missing'],
	['a text of spaces', () => ({ type: 'message', channel, text: ' \n' }), 'text is missing'],
	[
		'a text over 4,000',
		() => ({ type: 'message', channel, text: 'x'.repeat(4_001) }),
		'text may have at most 4000 characters',
	],
	['a message to nowhere', () => ({ type: 'message', text: 'x' }), 'channel must be a conversation id'],
	[
		'an invalid channel',
		() => ({ type: 'message', channel: 'general', text: 'x' }),
		'channel must be a conversation id',
	],
	[
		'an unknown thread',
		() => ({ type: 'message', channel, text: 'x', thread_ts: '1700000000.000000' }),
		'thread_not_found',
	],
	[
		'an invalid thread ts',
		() => ({ type: 'message', channel, text: 'x', thread_ts: 'yesterday' }),
		'thread_ts must be a ts like 1717200000.123456',
	],
	[
		'a mark with an invalid ts',
		() => ({ type: 'mark', channel, ts: 7 }),
		'ts must be a ts like 1717200000.123456',
	],
	[
		'a revision that is not a number',
		() => ({ type: 'mark', channel, ts: '1700000000.000000', revision: '1' }),
		'revision must be a whole number',
	],
	['invalid users', () => ({ type: 'presence_sub', ids: ['grace'] }), 'ids must be a list of user ids'],
	[
		'too many users',
		() => ({ type: 'presence_sub', ids: Array.from({ length: 501 }, (_, index) => `U${1000 + index}`) }),
		'at most 500 ids are allowed',
	],
	['typing nowhere', () => ({ type: 'typing', channel: 'C0000000000' }), 'channel_not_found'],
	[
		'typing with an invalid thread ts',
		() => ({ type: 'typing', channel, thread_ts: 'now' }),
		'thread_ts must be a ts like 1717200000.123456',
	],
];
for (const [what, frame, msg] of rejected) {
	test(`${what} is answered with code and msg under its id, and nothing is posted`, async () => {
		const socket = await connect(ada);
		expect(await socket.ask(frame())).toEqual({
			ok: false,
			reply_to: expect.any(Number),
			error: badMessage(msg),
		});
		expect((await ada.call('conversations.history', { channel })).messages).toEqual([]);
	});
}

test('a message without an id is posted, and answered without reply_to', async () => {
	const socket = await connect(ada);
	socket.sendText(JSON.stringify({ type: 'message', channel, text: 'from Java' }));
	const answer = await socket.seen({ ok: true, text: 'from Java' });
	expect(answer).not.toHaveProperty('reply_to');
	const { messages } = await ada.call('conversations.history', { channel });
	expect(messages[0]).toMatchObject({ text: 'from Java', ts: answer.ts });
});

test('a pong repeats the fields of its ping', async () => {
	const socket = await connect(ada);
	const pong = await socket.ask({ type: 'ping', time: 1234, note: 'x' });
	expect(pong).toEqual({ type: 'pong', reply_to: expect.any(Number), time: 1234, note: 'x' });
});

test('a frame over 16 KB gets an error and close code 4201; other sockets continue', async () => {
	const [large, other] = [await connect(ada), await connect(ada)];
	large.sendText(JSON.stringify({ id: 7, type: 'message', channel, text: 'x'.repeat(16 * 1024) }));
	expect((await large.closed).code).toBe(4201);
	expect(large.having({ type: 'error' })[0]?.error.msg).toContain('16 KB');
	await other.settled();
});

test('the limit of 16 KB counts bytes, not characters', async () => {
	const socket = await connect(ada);
	// 6,000 characters of three bytes each.
	socket.sendText(JSON.stringify({ id: 7, type: 'ping', note: '波'.repeat(6_000) }));
	expect((await socket.closed).code).toBe(4201);
});

test('a message has the same text in its answer and in the history, also with zeros and lone surrogates', async () => {
	const socket = await connect(ada);
	const answer = await socket.ask({ type: 'message', channel, text: 'a\0b\ud800c' });
	expect(answer.ok).toBe(true);
	const { messages } = await ada.call('conversations.history', { channel });
	expect(messages[0].text).toBe('a\ufffdb\ufffdc');
	expect(answer.text).toBe(messages[0].text);
});

test('frames that arrive together are all processed, in order', async () => {
	const [socket, listener] = [await connect(ada), await connect(grace)];
	const texts = Array.from({ length: 30 }, (_, index) => `message ${index}`);
	const answers = await Promise.all(texts.map((text) => socket.ask({ type: 'message', channel, text })));
	const received = await listener.all(texts.length, { type: 'message', channel });
	expect(received.map(({ text }) => text)).toEqual(texts);
	expect(received.map(({ ts }) => ts)).toEqual(answers.map(({ ts }) => ts));
});

test('a blur does not overtake its focus, however busy the server is: later messages stay unread', async () => {
	const device = await connect(grace);
	const busy = await connect(ada);
	for (let round = 0; round < 10; round += 1) {
		const posts = Array.from({ length: 5 }, (_, index) =>
			busy.ask({ type: 'message', channel, text: `${round}.${index}` }),
		);
		await Bun.sleep(round % 3);
		device.send({ type: 'channel_focus', channel });
		const blurred = device.ask({ type: 'channel_blur', channel });
		await Promise.all([...posts, blurred]);
		const before = (await grace.call('conversations.info', { channel })).channel.unread_count;
		const { ts } = await busy.ask({ type: 'message', channel, text: 'later' });
		await device.seen({ type: 'message', ts });
		await device.settled();
		const after = (await grace.call('conversations.info', { channel })).channel.unread_count;
		expect(after).toBe(before + 1);
	}
});

test('a mark and a post sent right after it are processed in that order; a ping waits for neither', async () => {
	const device = await connect(grace);
	const { ts } = await ada.call('chat.postMessage', { channel, text: 'one' });
	const order: string[] = [];
	const asked = (what: string, frame: Record<string, unknown>) =>
		device.ask(frame).then((answer) => {
			order.push(what);
			return answer;
		});
	const [marked, posted] = await Promise.all([
		asked('mark', { type: 'mark', channel, ts }),
		asked('post', { type: 'message', channel, text: 'two' }),
		asked('ping', { type: 'ping' }),
	]);
	expect(order).toEqual(['ping', 'mark', 'post']);
	expect(marked).toMatchObject({ ok: true, unread_count: 0 });
	const { last_read } = (await grace.call('conversations.info', { channel })).channel;
	expect(last_read).toBe(posted.ts);
});
