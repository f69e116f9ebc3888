import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type RtmListener, readyRtmClient, rtmClient } from '../support/slack.ts';
import type { Frame } from '../support/socket.ts';

/**
 * Slack's official RTMClient 7.0.4 against the server. The client throws when it disconnects after using sendMessage, so
 * this file posts over HTTP; slack-rtm-send.test.ts sends from a process of its own.
 */

let server: TestServer;
let ada: Person;
let grace: Person;
let linus: Person;
let team: string;
let names = 0;
const started: RtmListener[] = [];

beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

beforeEach(async () => {
	const workspace = await makeWorkspace(server.url, 3);
	team = workspace.team;
	[ada, grace, linus] = workspace.people as [Person, Person, Person];
});
afterEach(async () => {
	await Promise.all(started.splice(0).map(({ client }) => client.disconnect()));
});

async function listen(person: Person, options = {}): Promise<RtmListener> {
	const listener = await readyRtmClient(server.url, person, options);
	started.push(listener);
	return listener;
}

async function channelOf(creator: Person, ...others: readonly Person[]): Promise<string> {
	names += 1;
	const { channel } = await creator.call('conversations.create', { name: `rtm-${names}` });
	if (others.length > 0)
		await creator.call('conversations.invite', { channel: channel.id, users: others.map(({ id }) => id) });
	return channel.id;
}

const say = async (person: Person, channel: string, text: string, extra = {}): Promise<string> =>
	(await person.call('chat.postMessage', { channel, text, ...extra })).ts;

const isMessage = (event: Frame): boolean => event.type === 'message' && event.subtype === undefined;

test('rtm.start names the user, and hello comes first, with a position', async () => {
	const listener = rtmClient(server.url, ada);
	started.push(listener);
	const ready = listener.lifecycleEvent('ready');
	expect(await listener.client.start()).toMatchObject({ ok: true, self: { id: ada.id }, team: { id: team } });
	await ready;
	expect(listener.client.activeUserId).toBe(ada.id);
	expect(listener.events[0]).toMatchObject({
		type: 'hello',
		position: expect.stringMatching(/^\d{16}$/),
		// Otherwise the client sends nothing for two seconds.
		reply_to: 1,
	});
});

test('rtm.start, which older clients call, connects too', async () => {
	const listener = await listen(ada, { useRtmConnect: false });
	expect(listener.client.connected).toBe(true);
});

test('a post reaches every member, with the ts of the message before it', async () => {
	const channel = await channelOf(ada, grace);
	const before = await say(ada, channel, 'before anybody listens');
	const listeners = [await listen(ada), await listen(grace)];
	const first = await say(ada, channel, `hello <@${grace.id}>`, { client_msg_id: 'one' });
	const second = await say(grace, channel, 'hello yourself');
	for (const listener of listeners) {
		await listener.received((event) => event.ts === second);
		const [one, two] = listener.events.filter(isMessage);
		expect(one).toMatchObject({ channel, ts: first, user: ada.id, client_msg_id: 'one', team });
		expect([one?.prev_ts, two?.prev_ts]).toEqual([before, first]);
		expect(two?.position > one?.position).toBe(true);
	}
});

test('an edit and a delete arrive as hidden events that name the message', async () => {
	const channel = await channelOf(ada, grace);
	const listener = await listen(grace);
	const ts = await say(ada, channel, 'first');
	await ada.call('chat.update', { channel, ts, text: 'second' });
	await ada.call('chat.delete', { channel, ts });
	const deleted = await listener.received(({ subtype }) => subtype === 'message_deleted');
	expect(deleted).toMatchObject({
		hidden: true,
		channel,
		deleted_ts: ts,
		previous_message: { text: 'second' },
	});
	expect(await listener.received(({ subtype }) => subtype === 'message_changed')).toMatchObject({
		hidden: true,
		channel,
		message: { ts, text: 'second', edited: { user: ada.id } },
		previous_message: { text: 'first' },
	});
});

test('a reply arrives with its thread, and only a broadcast reply has a place in the timeline', async () => {
	const channel = await channelOf(ada, grace);
	const listener = await listen(grace);
	const root = await say(ada, channel, 'root');
	const reply = await say(ada, channel, 'reply', { thread_ts: root });
	const shout = await say(ada, channel, 'shout', { thread_ts: root, reply_broadcast: true });
	const broadcast = await listener.received(({ ts }) => ts === shout);
	expect(broadcast).toMatchObject({ subtype: 'thread_broadcast', thread_ts: root, prev_ts: root });
	const quiet = await listener.received(({ ts }) => ts === reply);
	expect(quiet).toMatchObject({ thread_ts: root, parent_user_id: ada.id });
	expect(quiet).not.toHaveProperty('prev_ts');
	const replied = await listener.received(({ subtype }) => subtype === 'message_replied');
	expect(replied).toMatchObject({ message: { ts: root, reply_count: 1, latest_reply: reply } });
});

test('joins and leaves are sent to the user and to the other members', async () => {
	const channel = await channelOf(ada);
	const [member, mover] = [await listen(ada), await listen(grace)];
	await grace.call('conversations.join', { channel });
	await say(ada, channel, 'welcome');
	await mover.received(({ text }) => text === 'welcome');
	await grace.call('conversations.leave', { channel });
	await say(ada, channel, 'gone');
	const joined = { channel, user: grace.id, channel_type: 'C', team };
	expect(await member.received(({ type }) => type === 'member_joined_channel')).toMatchObject(joined);
	expect(await member.received(({ type }) => type === 'member_left_channel')).toMatchObject(joined);
	expect(await mover.received(({ type }) => type === 'channel_joined')).toMatchObject({
		channel: { id: channel, is_member: true, unread_count: 0 },
	});
	await mover.received(({ type }) => type === 'channel_left');
	await member.received(({ text }) => text === 'gone');
	// A user who left gets nothing more: the next event on this socket is of another channel.
	const other = await channelOf(grace);
	await mover.received((event) => event.type === 'channel_joined' && event.channel.id === other);
	expect(mover.events.filter(isMessage).map(({ text }) => text)).toEqual(['welcome']);
});

test('a creation is sent to the workspace; archiving, renaming and unarchiving to the members', async () => {
	const [member, outsider] = [await listen(grace), await listen(linus)];
	const channel = await channelOf(ada, grace);
	await ada.call('conversations.rename', { channel, name: `${channel.toLowerCase()}` });
	// One after the other: in a cluster, a new member may get the current state of a channel without the changes that led to it.
	const renamed = await member.received(({ type }) => type === 'channel_rename');
	await ada.call('conversations.archive', { channel });
	const archived = await member.received(({ type }) => type === 'channel_archive');
	await ada.call('conversations.unarchive', { channel });
	const created = await outsider.received(({ type }) => type === 'channel_created');
	expect(created.channel).toMatchObject({ id: channel, creator: ada.id, is_channel: true });
	await member.received(({ type }) => type === 'channel_unarchive');
	expect(archived).toMatchObject({ channel, user: ada.id });
	expect(renamed.channel).toMatchObject({ id: channel, name: channel.toLowerCase() });
	expect(outsider.events.some(({ type }) => type === 'channel_archive')).toBe(false);
});

test('typing is sent to the other members of the channel, and not to its author', async () => {
	const channel = await channelOf(ada, grace);
	const [writer, reader, outsider] = [await listen(ada), await listen(grace), await listen(linus)];
	await writer.client.sendTyping(channel);
	expect(await reader.received(({ type }) => type === 'user_typing')).toMatchObject({
		channel,
		user: ada.id,
	});
	await say(grace, channel, 'what is it?');
	await writer.received(isMessage);
	for (const { events } of [writer, outsider])
		expect(events.some(({ type }) => type === 'user_typing')).toBe(false);
});

test('presence is sent to subscribers: first the state, then changes', async () => {
	const [watcher, other] = [await listen(ada), await listen(linus)];
	await watcher.client.subscribePresence([grace.id]);
	const presence = (expected: string) =>
		watcher.received((event) => event.type === 'presence_change' && event.presence === expected);
	expect(await presence('away')).toMatchObject({ user: grace.id });
	const watched = await listen(grace);
	expect(await presence('active')).toMatchObject({ user: grace.id });
	started.splice(started.indexOf(watched), 1);
	await watched.client.disconnect();
	const changes = () => watcher.events.filter(({ type }) => type === 'presence_change');
	await watcher.received(() => changes().length === 3);
	expect(changes().map((event) => event.presence)).toEqual(['away', 'active', 'away']);
	expect(other.events.some(({ type }) => type === 'presence_change')).toBe(false);
});

test('a ping is answered, and the client stays connected', async () => {
	const listener = await listen(ada, { clientPingTimeout: 1_500, serverPongTimeout: 1_400 });
	const pongs = () => listener.events.filter((event) => event.type === 'pong');
	// The first pong comes with hello; the second answers a ping of the client.
	await listener.received(() => pongs().length >= 2);
	expect(listener.client.connected).toBe(true);
	expect(pongs().every(({ reply_to }) => Number.isInteger(reply_to))).toBe(true);
	expect(listener.events.filter(({ type }) => type === 'hello')).toHaveLength(1);
});

test('a mark is sent to every socket of the user, with counts, revision and position', async () => {
	const channel = await channelOf(ada, grace);
	const [phone, laptop, other] = [await listen(grace), await listen(grace), await listen(ada)];
	const first = await say(ada, channel, 'one');
	await say(ada, channel, `two <@${grace.id}>`);
	const answer = await grace.call('conversations.mark', { channel, ts: first });
	for (const { received } of [phone, laptop].map((one) => ({ received: one.received.bind(one) }))) {
		expect(await received(({ type }) => type === 'channel_marked')).toMatchObject({
			channel,
			ts: first,
			unread_count: 1,
			unread_count_display: 1,
			mention_count: 1,
			revision: answer.revision,
			position: answer.position,
		});
	}
	await grace.call('conversations.markUnread', { channel, ts: first });
	const back = await laptop.received((event) => event.type === 'channel_marked' && event.unread_count === 2);
	expect(back.revision).toBe(answer.revision + 1);
	expect(back.position > answer.position).toBe(true);
	await say(grace, channel, 'a sign that all of it went out');
	await other.received((event) => event.user === grace.id);
	expect(other.events.some(({ type }) => type === 'channel_marked')).toBe(false);
});

test('marks in direct messages, groups and private channels have their own event names', async () => {
	const listener = await listen(grace);
	const users = [grace.id];
	const { channel: im } = await ada.call('conversations.open', { users });
	const { channel: group } = await ada.call('conversations.open', { users: [grace.id, linus.id] });
	const { channel: secret } = await ada.call('conversations.create', { name: 'secret', is_private: true });
	await ada.call('conversations.invite', { channel: secret.id, users });
	for (const { id } of [im, group, secret])
		await grace.call('conversations.mark', { channel: id, ts: await say(ada, id, 'hello') });
	const marked = async (channel: string) =>
		(
			await listener.received(
				(event) => event.type?.endsWith('_marked') === true && event.channel === channel,
			)
		).type;
	expect(await marked(im.id)).toBe('im_marked');
	expect(await marked(group.id)).toBe('mpim_marked');
	expect(await marked(secret.id)).toBe('group_marked');
});

test('the client reconnects by itself after the server restarted', async () => {
	const channel = await channelOf(ada, grace);
	const listener = await listen(grace);
	await say(ada, channel, 'before');
	await listener.received(({ text }) => text === 'before');
	const back = listener.lifecycleEvent('ready');
	await server.restart();
	await back;
	expect(listener.events.filter(({ type }) => type === 'hello')).toHaveLength(2);
	expect(listener.events.some(({ type }) => type === 'goodbye')).toBe(true);
	await say(ada, channel, 'after');
	await listener.received(({ text }) => text === 'after');
});
