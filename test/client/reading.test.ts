import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Network, until } from '../support/client/network.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { makeSharedChannel } from '../support/client/shared-channel.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Marks, focus and preferences on two devices of one user, such as two tabs of a browser. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage() {
	const { reader, writer, channel: id, post } = await makeSharedChannel(server.url);
	const network = new Network();
	const here = sdk(server.url, reader, { ...network.options, random: () => 0 });
	const there = sdk(server.url, reader);
	await Promise.all([here.connect(), there.connect()]);
	/** Returns the counts of the channel, which both devices and the server agree on. */
	const exact = async () => {
		await expectExact(here, reader);
		await expectExact(there, reader);
		return there.getSnapshot().conversations.get(id);
	};
	const end = () => {
		here.disconnect();
		there.disconnect();
	};
	return { reader, writer, id, post, network, here, there, exact, end };
}

test('every kind of mark reaches the user’s other device', async () => {
	const { here, there, id, post, reader, exact, end } = await stage();
	const [first, second] = [await post('one'), await post(`two <@${reader.id}>`)] as [string, string];
	const third = await post('three');
	expect(await exact()).toMatchObject({ unreadCount: 3, mentionCount: 1, badgeCount: 1 });
	expect((await here.conversation(id).mark(first)).counts).toMatchObject({ unreadCount: 2, lastRead: first });
	expect(await exact()).toMatchObject({ unreadCount: 2 });
	await there.conversation(id).markMessage(third);
	expect(await exact()).toMatchObject({ unreadCount: 1, lastRead: first });
	await here.conversation(id).markUnread(first);
	expect(await exact()).toMatchObject({ unreadCount: 3, revision: 1 });
	await there.conversation(id).mark();
	expect(await exact()).toMatchObject({ unreadCount: 0, lastRead: third });
	await here.conversation(id).markUnread(second);
	await there.markAll();
	expect(await exact()).toMatchObject({ unreadCount: 0 });
	end();
});

test('a mark from before the other device marked unread is ignored', async () => {
	const { here, there, id, post, network, exact, end } = await stage();
	const first = await post('one');
	const second = await post('two');
	await exact();
	network.goOffline();
	const marking = here.conversation(id).mark(second);
	await there.conversation(id).markUnread(first);
	network.goOnline();
	expect(await marking).toMatchObject({ ignored: true, counts: { unreadCount: 2, revision: 1 } });
	expect(await exact()).toMatchObject({ unreadCount: 2 });
	end();
});

test('during an outage marks wait, and only the highest is sent', async () => {
	const { here, id, post, network, exact, end } = await stage();
	const stamps = [await post('one'), await post('two'), await post('three')] as const;
	await exact();
	network.goOffline();
	const before = network.callsOf('conversations.mark').length;
	const marks = [stamps[0], stamps[2], stamps[1]].map((ts) => here.conversation(id).mark(ts));
	// The client shows the counts that the server sent last.
	expect(here.getSnapshot().conversations.get(id)?.unreadCount).toBe(3);
	network.goOnline();
	await Promise.all(marks);
	expect(network.callsOf('conversations.mark').slice(before)).toEqual([
		{ channel: id, ts: stamps[2], revision: 0 },
	]);
	expect(await exact()).toMatchObject({ unreadCount: 0 });
	end();
});

test('a mark without an answer is sent again', async () => {
	const { here, id, post, network, exact, end } = await stage();
	await post('one');
	await exact();
	network.lose('conversations.mark', 'after', 2);
	await here.conversation(id).mark();
	expect(network.callsOf('conversations.mark')).toHaveLength(3);
	expect(await exact()).toMatchObject({ unreadCount: 0 });
	end();
});

test('messages that arrive in focus are read, also after a reconnect, until blur or until the other device marks unread', async () => {
	const { here, there, id, post, network, exact, end } = await stage();
	const before = await post('before');
	await exact();
	here.conversation(id).focus();
	await here.settled();
	const arrived = await post('seen');
	await until(there, ({ conversations }) => {
		const { latest, unreadCount } = conversations.get(id) ?? {};
		return latest === arrived && unreadCount === 1;
	});
	expect(await exact()).toMatchObject({ unreadCount: 1, lastRead: '0000000000.000000' });
	await here.conversation(id).mark();

	network.cut();
	await here.settled();
	const seen = await post('seen again');
	await until(there, ({ conversations }) => conversations.get(id)?.lastRead === seen);
	expect(await exact()).toMatchObject({ unreadCount: 0 });

	await there.conversation(id).markUnread(before);
	await here.settled();
	// A new connection does not count as a look: the focus carries the revision that the user saw before.
	network.cut();
	await here.settled();
	await post('not looked at since');
	expect(await exact()).toMatchObject({ unreadCount: 4 });
	here.conversation(id).focus();
	await here.settled();
	await here.conversation(id).mark();
	const looked = await post('looked at');
	await until(there, ({ conversations }) => conversations.get(id)?.lastRead === looked);

	here.conversation(id).blur();
	await here.settled();
	await post('away');
	expect(await exact()).toMatchObject({ unreadCount: 1 });
	end();
});

test('focus is sent only now and then, however often it is called', async () => {
	const { here, id, network, end } = await stage();
	const frames = () => network.sent.filter(({ type }) => type === 'channel_focus').length;
	for (let times = 0; times < 10; times += 1) here.conversation(id).focus();
	expect(frames()).toBe(1);
	end();
});

test('muting and notification levels change the counts', async () => {
	const { here, there, id, post, reader, exact, end } = await stage();
	await here.conversation(id).setMuted(true);
	await post('<!channel>');
	await post(`<@${reader.id}>`);
	expect(await exact()).toMatchObject({
		isMuted: true,
		unreadCountDisplay: 0,
		mentionCount: 2,
		badgeCount: 1,
	});
	await there.conversation(id).setMuted(false);
	await there.conversation(id).setNotifications('mentions');
	expect(await exact()).toMatchObject({
		unreadCountDisplay: 2,
		badgeCount: 2,
		notificationLevel: 'mentions',
	});
	end();
});

test('following a thread, marking it read and marking it unread reach both devices', async () => {
	const { here, there, id, post, reader, writer, exact, end } = await stage();
	const root = await post('root');
	const [one, other] = [here.thread(id, root), there.thread(id, root)];
	const stops = [one.subscribe(() => undefined), other.subscribe(() => undefined)];
	const list = there.threads.subscribe(() => undefined);
	await one.follow();
	const reply = async (text: string): Promise<string> =>
		(await writer.call('chat.postMessage', { channel: id, thread_ts: root, text })).ts;
	const first = await reply('one');
	await reply(`two <@${reader.id}>`);
	await exact();
	expect(there.getSnapshot().threads).toMatchObject({ unreadCount: 2, mentionCount: 1, badgeCount: 1 });
	expect(other.getSnapshot()).toMatchObject({ isFollowing: true, unreadCount: 2, mentionCount: 1 });
	expect(there.threads.getSnapshot().threads).toMatchObject([{ threadTs: root, unreadCount: 2 }]);
	await other.mark(first);
	await exact();
	expect(one.getSnapshot()).toMatchObject({ unreadCount: 1, lastRead: first });
	await one.mark();
	await exact();
	expect(other.getSnapshot().unreadCount).toBe(0);
	await one.markUnread(first);
	await exact();
	expect(other.getSnapshot().unreadCount).toBe(2);
	await there.threads.markAll();
	await exact();
	expect(one.getSnapshot().unreadCount).toBe(0);
	await other.unfollow();
	await exact();
	expect(one.getSnapshot().isFollowing).toBe(false);
	expect(there.threads.getSnapshot().threads).toEqual([]);
	for (const stop of [...stops, list]) stop();
	end();
});

test('a list of threads on screen is fetched until the server can return it', async () => {
	const { reader, writer, channel: id, post } = await makeSharedChannel(server.url);
	const root = await post('root');
	await reader.call('subscriptions.thread.add', { channel: id, thread_ts: root });
	const reply = () => writer.call('chat.postMessage', { channel: id, thread_ts: root, text: 'reply' });
	await reply();
	let failures = 0;
	const unavailable = () => Response.json({ ok: false, error: 'service_unavailable' }, { status: 503 });
	const device = sdk(server.url, reader, {
		// Without pauses, except for the list's own.
		random: () => 0,
		fetch: (async (input: string, init: RequestInit) => {
			if (!String(input).endsWith('getView') || failures === 0) return fetch(input, init);
			failures -= 1;
			return unavailable();
		}) as typeof fetch,
	});
	await device.connect();
	const stop = device.threads.subscribe(() => undefined);
	await device.settled();
	expect(device.threads.getSnapshot().threads).toHaveLength(1);
	// More than one call tries.
	failures = 6;
	await reply();
	await eventually(async () =>
		expect(device.threads.getSnapshot()).toMatchObject({ error: 'service_unavailable' }),
	);
	await eventually(async () =>
		expect(device.threads.getSnapshot()).toMatchObject({ error: null, threads: [{ unreadCount: 2 }] }),
	);
	stop();
	device.disconnect();
});

test('readers, unread messages and the explanation of the badge can be fetched', async () => {
	const { here, id, post, reader, writer, end } = await stage();
	const first = await post('one');
	const second = await post(`two <@${reader.id}>`);
	const conversation = here.conversation(id);
	expect(await here.explain()).toMatchObject({
		badge: 1,
		items: [{ ts: second, reasons: ['direct_mention'] }],
	});
	expect((await conversation.unreads()).messages.map(({ ts }) => ts)).toEqual([first, second]);
	await conversation.mark(first);
	expect(await conversation.readers(first)).toEqual([reader.id]);
	expect(await conversation.explain()).toMatchObject({ badge: 1, hasMore: false });
	expect([...(await conversation.members()).members].sort()).toEqual([reader.id, writer.id].sort());
	end();
});
