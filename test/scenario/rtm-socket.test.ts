import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test';
import { client } from '../support/api.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, type Frame, socketUrl, TestSocket } from '../support/socket.ts';

/** The socket on the wire: admission, marks, and who receives which events. */

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

	test('an unknown ticket gets an error and close code 4202', async () => {
		const url = new URL(await socketUrl(ada));
		url.pathname = '/rtm/never-issued';
		await expectTurnedAway(url.href);
	});

	test('a ticket opens one socket', async () => {
		const url = await socketUrl(ada);
		const first = new TestSocket(url);
		await first.seen({ type: 'hello' });
		await expectTurnedAway(url);
		await first.settled();
	});

	test('a ticket is valid for 30 seconds', async () => {
		const [inTime, late] = [await socketUrl(ada), await socketUrl(ada)];
		const issued = Date.now();
		setSystemTime(issued + 29_000);
		await new TestSocket(inTime).seen({ type: 'hello' });
		setSystemTime(issued + 31_000);
		await expectTurnedAway(late);
	});

	test('hello is the first frame, whatever happens while the socket opens', async () => {
		const url = await socketUrl(grace);
		const posts = Promise.all(Array.from({ length: 20 }, (_, index) => say(ada, `during ${index}`)));
		const socket = new TestSocket(url);
		await socket.seen({ type: 'hello' });
		await posts;
		await socket.settled();
		expect(socket.frames[0]?.type).toBe('hello');
		expect(socket.having({ type: 'hello' })).toHaveLength(1);
	});

	test('revoking a token closes its sockets with 4200, and no others', async () => {
		const { token } = await workspace.admin('admin.tokens.create', { user_id: ada.id });
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

describe('marks', () => {
	test('a mark is answered with the new counts, and sent to the user’s other devices', async () => {
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
		const event = await laptop.seen({ type: 'channel_marked' });
		expect(event).toMatchObject({ ...counts, revision: answer.revision, position: answer.position });
	});

	test('a mark with an older revision is answered as ignored, and moves nothing', async () => {
		const phone = await connect(grace);
		const [first, second] = [await say(ada, 'one'), await say(ada, 'two')];
		const before = await phone.ask({ type: 'mark', channel, ts: second });
		await grace.call('conversations.markUnread', { channel, ts: first });
		const answer = await phone.ask({ type: 'mark', channel, ts: second, revision: before.revision });
		expect(answer).toMatchObject({ ok: true, ignored: true, unread_count: 2, revision: before.revision + 1 });
	});

	test('a mark in a conversation that the user is not in is rejected', async () => {
		const socket = await connect(linus);
		const answer = await socket.ask({ type: 'mark', channel, ts: await say(ada, 'one') });
		expect(answer.error).toEqual(badMessage('not_in_channel'));
	});

	test('a mark reveals nothing about conversations that the user may not see', async () => {
		const secret = await ada.call('conversations.create', { name: 'secret', is_private: true });
		const elsewhere = await makeWorkspace(server.url, 1, 'Elsewhere');
		const foreign = await elsewhere.people[0]!.call('conversations.create', { name: 'public' });
		const socket = await connect(linus);
		for (const hidden of [secret.channel.id, foreign.channel.id, 'C0000000000']) {
			const answer = await socket.ask({ type: 'mark', channel: hidden, ts: '1700000000.000000' });
			expect(answer.error).toEqual(badMessage('channel_not_found'));
		}
	});
});

test('a bot’s post has its bot_id, as over HTTP', async () => {
	const { user } = await workspace.admin('admin.users.create', {
		team_id: workspace.team,
		name: 'bot',
		is_bot: true,
	});
	const { token } = await workspace.admin('admin.tokens.create', { user_id: user.id });
	const bot: Person = { id: user.id, name: 'bot', token, call: client(server.url, token) };
	await ada.call('conversations.invite', { channel, users: bot.id });
	const [socket, listener] = [await connect(bot), await connect(grace)];
	const overHttp = await bot.call('chat.postMessage', { channel, text: 'one' });
	const overSocket = await socket.ask({ type: 'message', channel, text: 'two' });
	const { bot_id } = overHttp.message;
	expect(bot_id).toBe(`B${bot.id.slice(1)}`);
	for (const { ts } of [overHttp, overSocket]) expect(await listener.seen({ ts })).toMatchObject({ bot_id });
});

describe('who receives what', () => {
	test('every device of a user receives everything once, whichever of them sent it', async () => {
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

	test('a user who is not in a channel receives nothing of it, and may not type or post in it', async () => {
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

	test('nothing crosses a workspace: neither channels, nor users, nor their presence', async () => {
		const other = await makeWorkspace(server.url, 1, 'Elsewhere');
		const stranger = await connect(other.people[0]!);
		for (const frame of [
			{ type: 'message', channel, text: 'hello' },
			{ type: 'typing', channel },
		])
			expect((await stranger.ask(frame)).error).toEqual(badMessage('channel_not_found'));
		stranger.send({ type: 'presence_sub', ids: [ada.id] });
		stranger.send({ type: 'presence_query', ids: [ada.id] });
		const device = await connect(ada);
		await ada.call('conversations.create', { name: 'new' });
		await device.seen({ type: 'channel_created' });
		await stranger.settled();
		const received = (frame: Frame) =>
			frame.type !== 'hello' && frame.type !== 'pong' && frame.reply_to === undefined;
		expect(stranger.having(received)).toEqual([]);
	});

	test('a device that requested no pushed counts gets no event about threads that did not change', async () => {
		const ts = await say(grace, 'root');
		await ada.call('chat.postMessage', { channel, text: 'reply', thread_ts: ts });
		const before = await connect(grace, { counts: '1' });
		await before.seen({ type: 'update_thread_state' });
		const earlier = before.having({ type: 'update_thread_state' }).length;
		const { position } = await grace.call('client.counts');
		const plain = [await connect(grace), await connect(grace, { since: position })];
		const asking = await connect(grace, { since: position, counts: '1' });
		await asking.seen({ type: 'update_thread_state' });
		await Bun.sleep(50);
		await Promise.all([before, ...plain].map((socket) => socket.settled()));
		for (const socket of plain) expect(socket.having({ type: 'update_thread_state' })).toEqual([]);
		expect(before.having({ type: 'update_thread_state' })).toHaveLength(earlier);
	});

	test('a client that missed a change of its threads gets it, even if it requested no pushed counts', async () => {
		const ts = await say(grace, 'root');
		const { position } = await grace.call('client.counts');
		await ada.call('chat.postMessage', { channel, text: 'reply', thread_ts: ts });
		const socket = await connect(grace, { since: position });
		expect(await socket.seen({ type: 'update_thread_state' })).toMatchObject({ unread_count: 1 });
	});

	test('no counts of an archived channel are pushed, whatever happens in it', async () => {
		const ts = await say(ada, 'one');
		const socket = await connect(grace, { counts: '1' });
		// The counts of the join just before.
		await socket.seen({ type: 'unread_counts_updated' });
		await ada.call('conversations.archive', { channel });
		await socket.seen({ type: 'channel_archive' });
		await ada.call('chat.delete', { channel, ts });
		await socket.seen({ subtype: 'message_deleted' });
		await Bun.sleep(50);
		await socket.settled();
		expect(socket.having({ type: 'unread_counts_updated' })).toHaveLength(1);
		await ada.call('conversations.unarchive', { channel });
		const [, after] = await socket.all(2, { type: 'unread_counts_updated' });
		expect(after).toMatchObject({ channel, unread_count: 0 });
	});
});
