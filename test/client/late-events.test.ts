import { expect, test } from 'bun:test';
import { createClient } from '../../client/src/index.ts';
import { channel, counts, FakeServer, row } from '../support/client/fake-server.ts';

/**
 * A worker that lost its partition may publish late events, which are older than the client's state. They must not
 * restore a deleted message or an earlier text, name or number of replies, and must neither remove nor add a
 * conversation.
 */

const stamp = (number: number): string => `1700000000${String(number * 10).padStart(6, '0')}`;
const ts = (number: number): string => `${stamp(number).slice(0, 10)}.${stamp(number).slice(10)}`;
const stamped = (number: number) => ({ event_ts: ts(number), position: stamp(number) });

const posted = (number: number, prev: number, more: object = {}) => ({
	type: 'message',
	channel: 'C1',
	user: 'U2',
	text: `text ${number}`,
	ts: ts(number),
	prev_ts: ts(prev),
	...stamped(number),
	...more,
});
const edited = (number: number, at: number, text: string) => ({
	type: 'message',
	subtype: 'message_changed',
	channel: 'C1',
	ts: ts(at),
	message: { ts: ts(number), user: 'U2', text, edited: { user: 'U2', ts: ts(at) } },
	...stamped(at),
});
const deleted = (number: number, at: number) => ({
	type: 'message',
	subtype: 'message_deleted',
	channel: 'C1',
	ts: ts(at),
	deleted_ts: ts(number),
	...stamped(at),
});
const replied = (root: number, at: number, replies: number, latest: number) => ({
	type: 'message',
	subtype: 'message_replied',
	channel: 'C1',
	ts: ts(at),
	message: {
		ts: ts(root),
		user: 'U2',
		text: `text ${root}`,
		thread_ts: ts(root),
		reply_count: replies,
		...(replies > 0 ? { latest_reply: ts(latest) } : {}),
	},
	...stamped(at),
});
const reply = (root: number, number: number) => ({
	...posted(number, 0, { thread_ts: ts(root), parent_user_id: 'U2' }),
	prev_ts: undefined,
});

/** Messages 1, 2 and 3 are loaded, and the thread of 1, which has no replies. */
async function stage(answers: ConstructorParameters<typeof FakeServer>[0] = {}) {
	const messages = [3, 2, 1].map((number) => ({ ts: ts(number), user: 'U2', text: `text ${number}` }));
	const server = new FakeServer({
		'client.counts': () => counts([row('C1', { latest: ts(3), position: stamp(3) + stamp(3) })]),
		'users.conversations': () => ({ channels: [channel('C1')] }),
		'conversations.history': () => ({ messages, has_more: false }),
		'conversations.replies': () => ({ messages: messages.slice(2), has_more: false }),
		'inbox.list': () => ({ items: [] }),
		'subscriptions.thread.get': () => ({
			subscription: { active: true, last_read: ts(0) },
			unread_count: 0,
			mention_count: 0,
		}),
		...answers,
	});
	const client = createClient(server.options);
	const connecting = client.connect();
	await server.time.pass(0);
	server.socket.push({ type: 'hello', position: stamp(3), missed: 0 });
	await connecting;
	const conversation = client.conversation('C1');
	const thread = client.thread('C1', ts(1));
	await Promise.all([conversation.load(), thread.load()]);
	const texts = () => conversation.getSnapshot().messages.map(({ text }) => text);
	const replies = () => thread.getSnapshot().replies.map(({ text }) => text);
	const named = () => client.getSnapshot().conversations.get('C1');
	return {
		receive: server.socket.push.bind(server.socket),
		server,
		client,
		conversation,
		thread,
		texts,
		replies,
		named,
	};
}

test('an older edit, or the post itself, does not replace a newer text', async () => {
	const { receive, texts, named } = await stage();
	receive(posted(4, 3), edited(4, 6, 'second'));
	receive(edited(4, 5, 'first'), posted(4, 3));
	expect(texts()).toEqual(['text 1', 'text 2', 'text 3', 'second']);
	expect(named()?.preview?.text).toBe('second');
	receive(edited(4, 7, 'third'));
	expect(texts().at(-1)).toBe('third');
	expect(named()?.preview?.text).toBe('third');
});

test('a deleted message does not return with a late post, edit or reply', async () => {
	const { receive, texts } = await stage();
	receive(posted(4, 3), posted(5, 4), deleted(4, 6));
	receive(posted(4, 3), edited(4, 5, 'late'), replied(4, 5, 1, 5));
	expect(texts()).toEqual(['text 1', 'text 2', 'text 3', 'text 5']);
	receive(deleted(5, 7), posted(5, 3));
	expect(texts()).toEqual(['text 1', 'text 2', 'text 3']);
});

test('a message that was deleted before the page was loaded does not appear', async () => {
	const { receive, texts } = await stage();
	receive(posted(2.5, 2));
	expect(texts()).toEqual(['text 1', 'text 2', 'text 3']);
});

test('a deleted reply stays deleted, a late count changes nothing, and a deletion still counts', async () => {
	const { receive, replies, thread, conversation } = await stage();
	receive(reply(1, 4), replied(1, 4, 1, 4), reply(1, 5), replied(1, 5, 2, 5));
	receive(deleted(4, 6), replied(1, 6, 1, 5));
	receive(reply(1, 4), replied(1, 4, 1, 4), replied(1, 5, 2, 5));
	expect(replies()).toEqual(['text 5']);
	const shown = () => [
		thread.getSnapshot().root?.replyCount,
		conversation.getSnapshot().messages[0]?.replyCount,
	];
	expect(shown()).toEqual([1, 1]);
	receive(deleted(5, 7), replied(1, 7, 0, 0));
	expect(shown()).toEqual([0, 0]);
	expect(replies()).toEqual([]);
});

test('a root that arrives again keeps its replies', async () => {
	const { receive, conversation } = await stage();
	receive(posted(4, 3), replied(4, 5, 1, 5), posted(4, 3));
	expect(conversation.getSnapshot().messages.at(-1)).toMatchObject({ text: 'text 4', replyCount: 1 });
});

test('totals of threads are ordered by version, whatever the clocks of gateways say', async () => {
	const { receive, client } = await stage();
	const totals = (unread: number, user: number, conversations: number, at: number) => ({
		type: 'update_thread_state',
		has_unreads: unread > 0,
		unread_count: unread,
		mention_count: 0,
		badge_count: 0,
		version: stamp(user) + stamp(conversations),
		...stamped(at),
	});
	const shown = () => client.getSnapshot().threads.unreadCount;
	receive(totals(1, 1, 5, 900), totals(2, 1, 6, 6));
	expect(shown()).toBe(2);
	receive(totals(1, 1, 5, 901));
	expect(shown()).toBe(2);
	// The user left the conversation that had changed last.
	receive(totals(0, 2, 3, 7));
	expect(shown()).toBe(0);
	// A lost Redis was rebuilt; then somebody replied.
	receive(totals(5, 1, 9, 8));
	expect(shown()).toBe(5);
});

test('an older name, topic or purpose does not return', async () => {
	const { receive, named } = await stage();
	const rename = (name: string, at: number) => ({
		type: 'channel_rename',
		channel: { id: 'C1', name },
		...stamped(at),
	});
	const topic = (text: string, at: number) => ({
		type: 'channel_topic',
		channel: 'C1',
		topic: text,
		...stamped(at),
	});
	receive(rename('second', 6), rename('first', 5), topic('new', 8), topic('old', 7));
	expect(named()).toMatchObject({ name: 'second', topic: 'new' });
	receive(rename('third', 9));
	expect(named()?.name).toBe('third');
});

const about = (type: string, at: number) => ({ type, channel: 'C1', ...stamped(at) });
const joined = (at: number) => ({
	type: 'channel_joined',
	channel: { ...channel('C1'), ...row('C1', { latest: ts(3), last_read: ts(3) }) },
	...stamped(at),
});

test('a late leave or archive does not remove a conversation that the user has rejoined', async () => {
	const { receive, named, texts, conversation, server } = await stage();
	receive(about('channel_left', 4), joined(6));
	expect(named()).toBeDefined();
	await conversation.load();
	receive(about('channel_left', 4), about('channel_left', 5));
	expect(named()).toBeDefined();
	expect(texts()).toEqual(['text 1', 'text 2', 'text 3']);
	// The archive arrives after the unarchive, or twice.
	receive(about('channel_unarchive', 8), about('channel_archive', 7));
	expect(named()).toBeDefined();
	expect(server.callsOf('conversations.info').length).toBe(0);
	receive(about('channel_archive', 9));
	expect(named()).toBeUndefined();
});

test('a late join or unarchive does not restore a conversation that the user has left', async () => {
	const { receive, named, server } = await stage();
	receive(about('channel_left', 7));
	receive(joined(5), about('channel_unarchive', 6));
	expect(named()).toBeUndefined();
	expect(server.callsOf('conversations.info').length).toBe(0);
	receive(joined(8));
	expect(named()).toBeDefined();
});

test('a leave that is older than the counts makes the client fetch the membership', async () => {
	const answers = [
		{ channel: { ...channel('C1'), ...row('C1', { latest: ts(3), position: stamp(3) + stamp(3) }) } },
		{ channel: channel('C1') },
	];
	const { receive, named, server } = await stage({ 'conversations.info': () => answers.shift() ?? {} });
	receive(about('channel_left', 2));
	await server.time.pass(0);
	expect(named()).toBeDefined();
	receive(about('channel_left', 2));
	await server.time.pass(0);
	expect(named()).toBeUndefined();
});

test('an ephemeral message is in no list', async () => {
	const { receive, texts, replies } = await stage();
	receive(
		{ ...reply(1, 4), is_ephemeral: true },
		{ ...posted(5, 3), is_ephemeral: true, prev_ts: undefined },
	);
	expect([texts(), replies()]).toEqual([['text 1', 'text 2', 'text 3'], []]);
});
