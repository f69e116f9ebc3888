import { describe, expect, test } from 'bun:test';
import { createClient, type Message } from '../../client/src/index.ts';
import { dueMarks } from '../../client/src/reading/due-marks.ts';
import { NOTHING_SEEN, nextSeenIn, observe, SEEN_AFTER_MS } from '../../client/src/reading/sightings.ts';
import { channel, counts, FakeServer, row, START } from '../support/client/fake-server.ts';

/** Which messages count as seen, and which marks follow from that. */

const ts = (number: number): string => `1700000000.${String(number).padStart(6, '0')}`;

describe('seen', () => {
	const there = (before: typeof NOTHING_SEEN, now: number, onScreen: readonly string[]) =>
		observe(before, { onScreen, isAttentive: true, now });

	test('a message is seen after half a second on screen without a break, and not earlier', () => {
		const first = there(NOTHING_SEEN, 0, ['a', 'b']);
		expect([...first.seen]).toEqual([]);
		expect(nextSeenIn(first, 0)).toBe(SEEN_AFTER_MS);
		const second = there(first, 300, ['b', 'c']);
		expect([...there(second, 499, ['b', 'c']).seen]).toEqual([]);
		const third = there(second, 500, ['b', 'c']);
		expect([...third.seen]).toEqual(['b']);
		expect(nextSeenIn(third, 500)).toBe(300);
		// The message left the screen after its time was over, but before the next call.
		expect([...there(third, 900, []).seen]).toEqual(['b', 'c']);
	});

	test('two short appearances do not add up', () => {
		const passing = there(there(there(NOTHING_SEEN, 0, ['a']), 300, []), 400, ['a']);
		expect([...there(passing, 700, ['a']).seen]).toEqual([]);
		expect([...there(passing, 900, ['a']).seen]).toEqual(['a']);
	});

	test('without attention nothing is seen, and the time starts over when the attention returns', () => {
		const before = there(NOTHING_SEEN, 0, ['a']);
		const left = observe(before, { onScreen: ['a'], isAttentive: false, now: 5_000 });
		expect([...left.seen]).toEqual([]);
		expect(nextSeenIn(left, 5_000)).toBeNull();
		const back = there(left, 6_000, ['a']);
		expect([...there(back, 6_499, ['a']).seen]).toEqual([]);
		expect([...there(back, 6_500, ['a']).seen]).toEqual(['a']);
	});
});

describe('marks', () => {
	const message = (number: number, more: Partial<Message> = {}): Message =>
		({ ts: ts(number), user: 'U2', status: 'sent', isTombstone: false, ...more }) as Message;
	const numbers = [1, 2, 3, 4, 5, 6];
	const stretch = {
		messages: numbers.map((number) => message(number)),
		hasOlder: false,
		lastRead: ts(1),
		self: 'U1',
	};
	const due = (seen: readonly number[], more: Partial<typeof stretch> = {}) =>
		dueMarks(new Set(seen.map(ts)), { ...stretch, ...more });

	test('the cursor moves over seen messages without a gap; later seen messages are marked one by one', () => {
		expect(due([])).toEqual({ upTo: null, single: [] });
		expect(due([2, 3])).toEqual({ upTo: ts(3), single: [] });
		expect(due([2, 3, 5, 6])).toEqual({ upTo: ts(3), single: [ts(5), ts(6)] });
		expect(due([5, 6])).toEqual({ upTo: null, single: [ts(5), ts(6)] });
		expect(due([2, 3, 4, 5, 6])).toEqual({ upTo: ts(6), single: [] });
	});

	test('own messages and tombstones are not gaps, and unsent messages are not marked', () => {
		const messages = [
			message(1),
			message(2, { user: 'U1' }),
			message(3),
			message(4, { isTombstone: true }),
			message(5),
			message(0, { ts: '', user: 'U1', status: 'sending' }),
		];
		expect(due([3, 5], { messages })).toEqual({ upTo: ts(5), single: [] });
	});

	test('earlier messages that are not loaded are a gap', () => {
		const messages = numbers.slice(2).map((number) => message(number));
		expect(due([3, 4], { messages, hasOlder: true })).toEqual({ upTo: null, single: [ts(3), ts(4)] });
		expect(due([3, 4], { messages, hasOlder: true, lastRead: ts(3) })).toEqual({ upTo: ts(4), single: [] });
		expect(due([3, 4], { messages })).toEqual({ upTo: ts(4), single: [] });
	});
});

const UNREAD = {
	last_read: ts(1),
	latest: ts(6),
	has_unreads: true,
	unread_count: 5,
	unread_count_display: 5,
};

/** A client with six messages on its server, five of them unread, and its reader. */
async function stage() {
	const messages = [6, 5, 4, 3, 2, 1].map((number) => ({ ts: ts(number), user: 'U2', text: `${number}` }));
	let changes = 0;
	const marked = () => {
		changes += 1;
		return row('C1', { ...UNREAD, channel: 'C1', position: START + (BigInt(START) + BigInt(changes)) });
	};
	const server = new FakeServer({
		'client.counts': () => counts([row('C1', UNREAD)]),
		'users.conversations': () => ({ channels: [channel('C1')] }),
		'conversations.history': () => ({ messages, has_more: false }),
		'conversations.mark': marked,
		'conversations.markMessage': marked,
	});
	const client = createClient(server.options);
	const connecting = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connecting;
	const conversation = client.conversation('C1');
	await conversation.load();
	const reader = conversation.reader();
	const marks = () =>
		server.calls
			.filter(({ method }) => method.startsWith('conversations.mark'))
			.map(({ method, args }) => [method.replace('conversations.', ''), args.ts]);
	return { server, client, conversation, reader, marks };
}

/** More than a minute passes on a healthy connection. */
async function leaveDesk({ socket, time }: FakeServer): Promise<void> {
	for (let times = 0; times < 4; times += 1) {
		socket.push({ type: 'pong', reply_to: 1 });
		await time.pass(16_000);
	}
}

test('the reader marks seen messages: up to the first gap by cursor, after it one by one', async () => {
	const { server, client, reader, marks } = await stage();
	client.attention.active();
	reader.onScreen([ts(2), ts(3)]);
	await server.time.pass(400);
	expect(marks()).toEqual([]);
	await server.time.pass(300);
	expect(marks()).toEqual([['mark', ts(3)]]);
	reader.onScreen([ts(5), ts(6)]);
	await server.time.pass(1_000);
	expect(marks().slice(1)).toEqual([['markMessage', [ts(5), ts(6)]]]);
	expect(server.callsOf('conversations.markMessage')[0]?.args.revision).toBe(0);
	reader.onScreen([ts(4)]);
	await server.time.pass(1_000);
	// Each mark is sent once, although the counts on this fake server never fall.
	expect(marks().slice(2)).toEqual([['mark', ts(6)]]);
	reader.stop();
});

test('an idle window, a window without focus and a hidden window read nothing', async () => {
	const { server, client, reader, marks } = await stage();
	reader.onScreen([ts(2)]);
	await server.time.pass(5_000);
	expect(marks()).toEqual([]);
	client.attention.active();
	client.attention.report({ hasFocus: false });
	await server.time.pass(5_000);
	client.attention.report({ hasFocus: true, isVisible: false });
	await server.time.pass(5_000);
	expect(marks()).toEqual([]);
	client.attention.report({ isVisible: true });
	await server.time.pass(1_000);
	expect(marks()).toEqual([['mark', ts(2)]]);
	await leaveDesk(server);
	reader.onScreen([ts(2), ts(3)]);
	await server.time.pass(5_000);
	expect(marks()).toHaveLength(1);
	client.attention.active();
	await server.time.pass(1_000);
	expect(marks()).toEqual([
		['mark', ts(2)],
		['mark', ts(3)],
	]);
	reader.stop();
});

test('after another device marked unread, the reader marks nothing until it is resumed', async () => {
	const { server, client, reader, marks } = await stage();
	client.attention.active();
	server.socket.push({
		type: 'channel_marked',
		channel: 'C1',
		...row('C1', { ...UNREAD, revision: 1, position: START + (BigInt(START) + 50n) }),
	});
	reader.onScreen([ts(2)]);
	await server.time.pass(2_000);
	expect(marks()).toEqual([]);
	reader.resume();
	await server.time.pass(2_000);
	expect(marks()).toEqual([['mark', ts(2)]]);
	expect(server.callsOf('conversations.mark')[0]?.args.revision).toBe(1);
	reader.stop();
});

test('focus ends with the user’s attention, and a reconnect alone does not restore it', async () => {
	const { server, client, conversation } = await stage();
	const frames = () =>
		server.sockets
			.flatMap(({ sent }) => sent)
			.map(({ type }) => String(type))
			.filter((type) => type.startsWith('channel_'));
	conversation.focus();
	expect(frames()).toEqual(['channel_focus']);
	client.attention.report({ isVisible: false });
	expect(frames()).toEqual(['channel_focus', 'channel_blur']);
	client.attention.report({ isVisible: true });
	expect(frames()).toEqual(['channel_focus', 'channel_blur', 'channel_focus']);
	// The user leaves the computer.
	await leaveDesk(server);
	expect(frames().slice(3)).toEqual(['channel_blur']);
	server.socket.end(4000);
	await server.time.pass(5_000);
	server.socket.hello();
	await server.time.pass(100);
	expect(frames()).toHaveLength(4);
	conversation.focus();
	expect(frames().slice(4)).toEqual(['channel_focus']);
	client.disconnect();
});

test('after a success, a failed mark is repeated as soon as after a first failure', async () => {
	const { server, client, conversation } = await stage();
	const answer = server.answers['conversations.mark'];
	if (!answer) throw new Error('no answer');
	// Each mark is requested while the one before is in flight, so the sender never rests.
	let later = (): void => undefined;
	server.answers['conversations.mark'] = () =>
		new Promise((resolve) => {
			later = () => resolve(answer({}));
		});
	void conversation.mark(ts(1));
	await server.time.pass(0);
	for (let times = 2; times < 8; times += 1) {
		void conversation.mark(ts(times));
		later();
		await server.time.pass(0);
	}
	server.answers['conversations.mark'] = () => ({ error: 'service_unavailable' });
	later();
	void conversation.mark(ts(8));
	await server.time.pass(0);
	server.answers['conversations.mark'] = answer;
	const before = server.callsOf('conversations.mark').length;
	await server.time.pass(500);
	expect(server.callsOf('conversations.mark').length).toBe(before + 1);
	client.disconnect();
});

/** A followed thread with three unread replies. */
async function threadStage() {
	const root = ts(1);
	const state = (lastRead: number) => ({
		subscription: { type: 'thread', channel: 'C1', thread_ts: root, active: true, last_read: ts(lastRead) },
		unread_count: 4 - lastRead,
		mention_count: 0,
	});
	const server = new FakeServer({
		'conversations.replies': () => ({
			messages: [1, 2, 3, 4].map((number) => ({
				ts: ts(number),
				thread_ts: root,
				user: 'U2',
				text: `${number}`,
			})),
			has_more: false,
		}),
		'subscriptions.thread.get': () => state(1),
		'subscriptions.thread.mark': () => state(4),
	});
	const client = createClient(server.options);
	const connecting = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connecting;
	const thread = client.thread('C1', root);
	await thread.load();
	client.attention.active();
	return { server, client, thread, state };
}

test('the mark of seen replies is repeated after a lost answer, also after the reader has stopped', async () => {
	const { server, client, thread, state } = await threadStage();
	const reader = thread.reader();
	delete server.answers['subscriptions.thread.mark'];
	reader.onScreen([ts(2), ts(3), ts(4)]);
	await server.time.pass(700);
	expect(server.callsOf('subscriptions.thread.mark')).toHaveLength(1);
	reader.stop();
	server.answers['subscriptions.thread.mark'] = () => state(4);
	await server.time.pass(1_000);
	expect(server.callsOf('subscriptions.thread.mark').map(({ args }) => args.ts)).toEqual([ts(4), ts(4)]);
	expect(thread.getSnapshot().unreadCount).toBe(0);
	client.disconnect();
});

test('the mark of seen replies waits for a connection, and is dropped if replies were marked unread meanwhile', async () => {
	const { server, client, thread, state } = await threadStage();
	const marks = () => server.callsOf('subscriptions.thread.mark').map(({ args }) => args.ts);
	const reader = thread.reader();
	server.socket.end(1006);
	reader.onScreen([ts(2)]);
	await server.time.pass(499);
	reader.onScreen([ts(2), ts(3)]);
	await server.time.pass(1_000);
	expect(marks()).toEqual([]);
	server.socket.hello();
	await server.time.pass(0);
	expect(marks()).toEqual([ts(3)]);
	delete server.answers['subscriptions.thread.mark'];
	reader.onScreen([ts(4)]);
	server.socket.push({ type: 'thread_marked', ...state(3) });
	await server.time.pass(700);
	const sent = marks().length;
	server.socket.push({ type: 'thread_marked', ...state(1) });
	await server.time.pass(60_000);
	expect(marks()).toHaveLength(sent);
	client.disconnect();
});

test('a follow state that was requested before a mark does not replace the answer to the mark', async () => {
	const { server, client, thread, state } = await threadStage();
	let answerOld = (): void => undefined;
	server.answers['subscriptions.thread.get'] = () =>
		new Promise((resolve) => {
			answerOld = () => resolve(state(1));
		});
	server.socket.push({ type: 'thread_subscribed', ...state(1) });
	await server.time.pass(0);
	server.answers['subscriptions.thread.get'] = () => state(4);
	await thread.mark();
	expect(thread.getSnapshot().unreadCount).toBe(0);
	answerOld();
	await server.time.pass(0);
	expect(thread.getSnapshot()).toMatchObject({ unreadCount: 0, lastRead: ts(4) });
	client.disconnect();
});

test('the answer to a mark does not replace a newer state that arrived before it', async () => {
	const { server, client, thread, state } = await threadStage();
	const late = Promise.withResolvers<void>();
	const fetches = () => server.callsOf('subscriptions.thread.get').length;
	const fetched = fetches();
	server.answers['subscriptions.thread.mark'] = ({ read }) =>
		read ? late.promise.then(() => state(4)) : state(2);
	server.answers['subscriptions.thread.get'] = () => state(2);
	const marking = thread.mark();
	await thread.markUnread(ts(3));
	expect(fetches()).toBe(fetched);
	late.resolve();
	await marking;
	expect(thread.getSnapshot()).toMatchObject({ unreadCount: 2, lastRead: ts(2) });
	expect(fetches()).toBe(fetched + 1);
	client.disconnect();
});

test('the answer to a mark whose event has arrived causes no request', async () => {
	const { server, client, thread, state } = await threadStage();
	const fetched = server.callsOf('subscriptions.thread.get').length;
	server.answers['subscriptions.thread.mark'] = () => {
		server.socket.push({ type: 'thread_marked', ...state(4) });
		return state(4);
	};
	await thread.mark();
	expect(thread.getSnapshot()).toMatchObject({ unreadCount: 0, lastRead: ts(4) });
	expect(server.callsOf('subscriptions.thread.get')).toHaveLength(fetched);
	client.disconnect();
});
