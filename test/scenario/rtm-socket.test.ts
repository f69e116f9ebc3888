import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, type Frame, socketUrl, TestSocket } from '../support/socket.ts';

/** The socket as it is on the wire: admission, frames and their answers, and who hears what. */

let server: TestServer;
let workspace: Workspace;
let ada: Person;
let grace: Person;
let linus: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

beforeEach(async () => {
	workspace = await makeWorkspace(server.url, 3);
	[ada, grace, linus] = workspace.people as [Person, Person, Person];
	channel = (await ada.call('conversations.create', { name: 'general' })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
});
afterEach(() => {
	setSystemTime();
});

const say = async (person: Person, text: string): Promise<string> =>
	(await person.call('chat.postMessage', { channel, text })).ts;

const badMessage = (msg: string) => ({ code: 2, msg });

describe('admission', () => {
	async function expectTurnedAway(url: string) {
		const socket = new TestSocket(url);
		expect((await socket.closed).code).toBe(4202);
		expect(socket.frames).toEqual([
			{ type: 'error', error: { code: 1, msg: expect.stringContaining('ticket') } },
		]);
	}

	test('a ticket that was never issued is told so and closed with 4202', async () => {
		const url = new URL(await socketUrl(ada));
		url.searchParams.set('ticket', 'never-issued');
		await expectTurnedAway(url.href);
	});

	test('a ticket is good for one socket', async () => {
		const url = await socketUrl(ada);
		const first = new TestSocket(url);
		await first.seen({ type: 'hello' });
		await expectTurnedAway(url);
		await first.settled();
	});

	test('a ticket is good for 30 seconds', async () => {
		const [inTime, late] = [await socketUrl(ada), await socketUrl(ada)];
		const issued = Date.now();
		setSystemTime(issued + 29_000);
		await new TestSocket(inTime).seen({ type: 'hello' });
		setSystemTime(issued + 31_000);
		await expectTurnedAway(late);
	});

	test('hello is the first frame, whatever happens while the socket is being opened', async () => {
		const url = await socketUrl(grace);
		const posts = Promise.all(Array.from({ length: 20 }, (_, index) => say(ada, `during ${index}`)));
		const socket = new TestSocket(url);
		await socket.seen({ type: 'hello' });
		await posts;
		await socket.settled();
		expect(socket.frames[0]?.type).toBe('hello');
		expect(socket.having({ type: 'hello' })).toHaveLength(1);
	});

	test('a token that is revoked closes its sockets with 4200, and only those', async () => {
		const { token } = await workspace.admin('admin.tokens.create', { user_id: ada.id });
		const { client } = await import('../support/api.ts');
		const stolen = await connect({ ...ada, token, call: client(server.url, token) });
		const own = await connect(ada);
		await workspace.admin('admin.tokens.revoke', { token });
		expect((await stolen.closed).code).toBe(4200);
		await own.settled();
	});

	test('a ticket of a token that was revoked meanwhile opens nothing', async () => {
		const url = await socketUrl(ada);
		await workspace.admin('admin.tokens.revoke', { token: ada.token });
		const socket = new TestSocket(url);
		expect((await socket.closed).code).toBe(4200);
		expect(socket.having({ type: 'hello' })).toHaveLength(0);
	});
});

describe('frames', () => {
	const unanswerable: [string, string, string][] = [
		['not JSON', '{"type":', 'the frame is not JSON'],
		['a list', '[1,2]', 'the frame is not an object'],
		['null', 'null', 'the frame is not an object'],
		['without a type', '{}', 'type is missing or unknown'],
		['a message without an id', '{"type":"message","text":"x"}', 'id is missing or no positive whole number'],
		['with an id that is no number', '{"id":"7","type":"mark"}', 'id is missing or no positive whole number'],
	];
	for (const [what, text, msg] of unanswerable) {
		test(`${what}: an error frame that says so, and the socket goes on`, async () => {
			const socket = await connect(ada);
			socket.sendText(text);
			expect(await socket.seen({ type: 'error' })).toEqual({ type: 'error', error: badMessage(msg) });
			await socket.settled();
		});
	}

	const refused: [string, () => Record<string, unknown>, string][] = [
		['an unknown type', () => ({ type: 'shout' }), 'type is missing or unknown'],
		['a message without text', () => ({ type: 'message', channel }), 'message text is missing'],
		['a text of spaces', () => ({ type: 'message', channel, text: ' \n' }), 'message text is missing'],
		[
			'a text over 4,000',
			() => ({ type: 'message', channel, text: 'x'.repeat(4_001) }),
			'message text is too long',
		],
		['a message to nowhere', () => ({ type: 'message', text: 'x' }), 'channel is missing'],
		[
			'a channel that is none',
			() => ({ type: 'message', channel: 'general', text: 'x' }),
			'channel is missing',
		],
		[
			'an unknown thread',
			() => ({ type: 'message', channel, text: 'x', thread_ts: '1700000000.000000' }),
			'thread_not_found',
		],
		[
			'a thread that is no ts',
			() => ({ type: 'message', channel, text: 'x', thread_ts: 'yesterday' }),
			'thread_ts is not a timestamp',
		],
		['a mark that is no ts', () => ({ type: 'mark', channel, ts: 7 }), 'ts is not a timestamp'],
		[
			'a revision that is no number',
			() => ({ type: 'mark', channel, ts: '1700000000.000000', revision: '1' }),
			'revision is not a whole number',
		],
		['users that are none', () => ({ type: 'presence_sub', ids: ['grace'] }), 'ids is not a list of users'],
		[
			'too many users',
			() => ({ type: 'presence_sub', ids: Array.from({ length: 501 }, (_, index) => `U${1000 + index}`) }),
			'at most 500 ids',
		],
		['typing nowhere', () => ({ type: 'typing', channel: 'C0000000000' }), 'channel_not_found'],
		[
			'typing in a thread that is no ts',
			() => ({ type: 'typing', channel, thread_ts: 'now' }),
			'thread_ts is not a timestamp',
		],
	];
	for (const [what, frame, msg] of refused) {
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

	test('a ping is answered with what it carried', async () => {
		const socket = await connect(ada);
		const pong = await socket.ask({ type: 'ping', time: 1234, note: 'x' });
		expect(pong).toEqual({ type: 'pong', reply_to: expect.any(Number), time: 1234, note: 'x' });
	});

	test('a frame over 16 KB is told so and closed with 4201; others go on', async () => {
		const [large, other] = [await connect(ada), await connect(ada)];
		large.sendText(JSON.stringify({ id: 7, type: 'message', channel, text: 'x'.repeat(16 * 1024) }));
		expect((await large.closed).code).toBe(4201);
		expect(large.having({ type: 'error' })[0]?.error.msg).toContain('16 KB');
		await other.settled();
	});

	test('16 KB are bytes, not characters', async () => {
		const socket = await connect(ada);
		// 6,000 characters of three bytes each.
		socket.sendText(JSON.stringify({ id: 7, type: 'ping', note: '波'.repeat(6_000) }));
		expect((await socket.closed).code).toBe(4201);
	});

	test('a message is read again as it was answered, also one with zeros and half characters', async () => {
		const socket = await connect(ada);
		const answer = await socket.ask({ type: 'message', channel, text: 'a\0b\ud800c' });
		expect(answer.ok).toBe(true);
		const { messages } = await ada.call('conversations.history', { channel });
		expect(messages[0].text).toBe('a\ufffdb\ufffdc');
		expect(answer.text).toBe(messages[0].text);
	});

	test('frames that come together are all done, in order', async () => {
		const [socket, listener] = [await connect(ada), await connect(grace)];
		const texts = Array.from({ length: 30 }, (_, index) => `message ${index}`);
		const answers = await Promise.all(texts.map((text) => socket.ask({ type: 'message', channel, text })));
		const heard = await listener.all(texts.length, { type: 'message', channel });
		expect(heard.map(({ text }) => text)).toEqual(texts);
		expect(heard.map(({ ts }) => ts)).toEqual(answers.map(({ ts }) => ts));
	});
});

describe('marks', () => {
	test('a mark is answered with the counts after it, and told to the user’s other devices', async () => {
		const [phone, laptop] = [await connect(grace), await connect(grace)];
		const stamps = [await say(ada, 'one'), await say(ada, `two <@${grace.id}>`), await say(ada, 'three')];
		const answer = await phone.ask({ type: 'mark', channel, ts: stamps[0] });
		const counts = {
			channel,
			last_read: stamps[0],
			unread_count: 2,
			unread_count_display: 2,
			mention_count: 1,
		};
		expect(answer).toMatchObject({ ok: true, ...counts });
		expect(answer).not.toHaveProperty('ignored');
		const told = await laptop.seen({ type: 'channel_marked' });
		expect(told).toMatchObject({ ...counts, revision: answer.revision, position: answer.position });
	});

	test('a mark with an older revision is answered as ignored and moves nothing', async () => {
		const phone = await connect(grace);
		const [first, second] = [await say(ada, 'one'), await say(ada, 'two')];
		const before = await phone.ask({ type: 'mark', channel, ts: second });
		await grace.call('conversations.markUnread', { channel, ts: first });
		const answer = await phone.ask({ type: 'mark', channel, ts: second, revision: before.revision });
		expect(answer).toMatchObject({ ok: true, ignored: true, unread_count: 2, revision: before.revision + 1 });
	});

	test('a mark where one is not a member is refused', async () => {
		const socket = await connect(linus);
		const answer = await socket.ask({ type: 'mark', channel, ts: await say(ada, 'one') });
		expect(answer.error).toEqual(badMessage('not_in_channel'));
	});
});

describe('who hears what', () => {
	test('every device of a user hears everything once, whichever of them sent it', async () => {
		const devices = await Promise.all([connect(ada), connect(ada), connect(ada)]);
		const { ts } = await devices[0]!.ask({ type: 'message', channel, text: 'hello' });
		for (const device of devices) {
			await device.seen({ type: 'message', ts });
			await device.settled();
			expect(device.having({ type: 'message', ts })).toHaveLength(1);
		}
		devices[0]!.close();
		await devices[0]!.closed;
		const next = await say(grace, 'and the others go on');
		await Promise.all(devices.slice(1).map((device) => device.seen({ ts: next })));
	});

	test('whoever is not in a channel hears nothing of it, and may not type or post in it', async () => {
		const [member, outsider] = [await connect(grace), await connect(linus)];
		const typing = await outsider.ask({ type: 'typing', channel });
		expect(typing.error).toEqual(badMessage('channel_not_found'));
		const posting = await outsider.ask({ type: 'message', channel, text: 'let me in' });
		expect(posting.error).toEqual(badMessage('not_in_channel'));
		const ts = await say(ada, 'among us');
		await member.seen({ ts });
		await outsider.settled();
		expect(member.having(({ type }) => type === 'user_typing')).toEqual([]);
		expect(outsider.having((frame) => frame.channel === channel)).toEqual([]);
	});

	test('nothing crosses a workspace: neither channels, nor people, nor their presence', async () => {
		const other = await makeWorkspace(server.url, 1, 'Elsewhere');
		const stranger = await connect(other.people[0]!);
		for (const frame of [
			{ type: 'message', channel, text: 'hello' },
			{ type: 'typing', channel },
		])
			expect((await stranger.ask(frame)).error).toEqual(badMessage('channel_not_found'));
		stranger.tell({ type: 'presence_sub', ids: [ada.id] });
		stranger.tell({ type: 'presence_query', ids: [ada.id] });
		const device = await connect(ada);
		await ada.call('conversations.create', { name: 'new' });
		await device.seen({ type: 'channel_created' });
		await stranger.settled();
		const heard = (frame: Frame) =>
			frame.type !== 'hello' && frame.type !== 'pong' && frame.reply_to === undefined;
		expect(stranger.having(heard)).toEqual([]);
	});
});
