import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Message } from '../../client/src/index.ts';
import { Network, until } from '../support/client/network.ts';
import { sdk } from '../support/client/sdk.ts';
import { makeSharedChannel } from '../support/client/shared-channel.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** The loaded messages are a contiguous part of the conversation, wherever it was opened and whatever happens meanwhile. */

const MESSAGES = 25;
const PAGE = 10;

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage() {
	const { reader, writer, channel, post } = await makeSharedChannel(server.url);
	const stamps: string[] = [];
	for (let index = 0; index < MESSAGES; index += 1) stamps.push(await post(String(index)));
	const network = new Network();
	const client = sdk(server.url, reader, { ...network.options, pageSize: PAGE, random: () => 0 });
	await client.connect();
	const conversation = client.conversation(channel);
	const shown = () => conversation.getSnapshot().messages.map(({ text }: Message) => Number(text));
	return {
		reader,
		writer,
		channel,
		post,
		stamps,
		network,
		client,
		conversation,
		shown,
	};
}

const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from }, (_, index) => from + index);

test('the client loads page after page back to the first message', async () => {
	const { client, conversation, shown } = await stage();
	expect(conversation.getSnapshot()).toMatchObject({ messages: [], isLoaded: false, isLoading: false });
	const stop = conversation.subscribe(() => undefined);
	expect(conversation.load()).toBeInstanceOf(Promise);
	await until(conversation, ({ isLoaded }) => isLoaded);
	expect(shown()).toEqual(range(15, 25));
	expect(conversation.getSnapshot()).toMatchObject({ hasOlder: true, hasNewer: false, isLoading: false });
	await conversation.loadOlder();
	expect(shown()).toEqual(range(5, 25));
	await Promise.all([conversation.loadOlder(), conversation.loadOlder()]);
	expect(shown()).toEqual(range(0, 25));
	expect(conversation.getSnapshot().hasOlder).toBe(false);
	stop();
	client.disconnect();
});

test('after a jump the client loads pages in both directions, then gets new messages live', async () => {
	const { client, conversation, shown, stamps, post } = await stage();
	await conversation.jumpTo(String(stamps[8]));
	expect(shown()).toEqual(range(0, 19));
	await post('25');
	await client.settled();
	expect(shown()).toEqual(range(0, 19));
	expect(conversation.getSnapshot().hasNewer).toBe(true);
	await conversation.loadNewer();
	expect(shown()).toEqual(range(0, 26));
	expect(conversation.getSnapshot().hasNewer).toBe(false);
	await post('26');
	await client.settled();
	expect(shown()).toEqual(range(0, 27));
	await conversation.jumpTo(String(stamps[2]));
	await conversation.jumpToLatest();
	expect(shown()).toEqual(range(17, 27));
	client.disconnect();
});

test('events that arrive while a page is loading are not lost', async () => {
	const { client, conversation, channel, post, writer, stamps, network, shown } = await stage();
	const release = network.hold('conversations.history');
	const loading = conversation.load();
	await network.served('conversations.history', 1);
	// The server has answered, but the answer has not arrived: later events arrive before it.
	await post('25');
	await writer.call('chat.update', { channel, ts: stamps[20], text: '20000' });
	await writer.call('chat.delete', { channel, ts: stamps[21] });
	await client.settled();
	expect(shown()).toEqual([]);
	release();
	await loading;
	expect(shown()).toEqual([15, 16, 17, 18, 19, 20000, 22, 23, 24, 25]);
	client.disconnect();
});

test('a page that fails to load is reported, and can be loaded again', async () => {
	const { client, conversation, network, shown } = await stage();
	network.lose('conversations.history', 'before', 4);
	await expect(conversation.load()).rejects.toMatchObject({ code: 'network_error' });
	expect(conversation.getSnapshot()).toMatchObject({
		error: 'network_error',
		isLoaded: false,
		isLoading: false,
	});
	await conversation.load();
	expect(shown()).toEqual(range(15, 25));
	expect(conversation.getSnapshot().error).toBeNull();
	client.disconnect();
});

test('leaving a conversation evicts its messages; rejoining loads the missed ones', async () => {
	const { client, conversation, channel, shown, post } = await stage();
	const stop = conversation.subscribe(() => undefined);
	await client.settled();
	await conversation.leave();
	await client.settled();
	expect(conversation.getSnapshot().conversation).toBeNull();
	await post('25');
	await client.join(channel);
	await client.settled();
	expect(conversation.getSnapshot().conversation).toMatchObject({ unreadCount: 0 });
	expect(shown()).toEqual(range(16, 26));
	stop();
	client.disconnect();
});

test('a root that was posted, replied to and deleted during an outage is a tombstone', async () => {
	const { client, conversation, channel, post, writer, reader } = await stage();
	await conversation.load();
	client.disconnect();
	const root = await post('25');
	await writer.call('chat.postMessage', { channel, thread_ts: root, text: 'reply' });
	await writer.call('chat.delete', { channel, ts: root });
	await client.connect();
	await client.settled();
	expect(conversation.getSnapshot().messages.at(-1)).toMatchObject({
		ts: root,
		isTombstone: true,
		replyCount: 1,
	});
	const { messages } = await reader.call('conversations.history', { channel, limit: 1 });
	expect(messages).toMatchObject([{ ts: root, subtype: 'tombstone' }]);
	client.disconnect();
});

test('a thread is loaded from its start', async () => {
	const { client, channel, stamps, writer } = await stage();
	const root = String(stamps[3]);
	for (const text of ['a', 'b']) await writer.call('chat.postMessage', { channel, thread_ts: root, text });
	const thread = client.thread(channel, root);
	await thread.load();
	expect(thread.getSnapshot()).toMatchObject({ root: { text: '3' }, hasMore: false, isFollowing: false });
	await writer.call('chat.postMessage', { channel, thread_ts: root, text: 'c' });
	await writer.call('chat.delete', { channel, ts: root });
	await client.settled();
	expect(thread.getSnapshot().replies.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
	expect(thread.getSnapshot().root).toMatchObject({ isTombstone: true, text: '', replyCount: 3 });
	client.disconnect();
});

test('a thread that the user follows while its messages load is shown as followed', async () => {
	const { client, network, channel, stamps } = await stage();
	const thread = client.thread(channel, stamps[0]!);
	const release = network.hold('conversations.replies');
	const loading = thread.load();
	await network.served('subscriptions.thread.get', 1);
	await thread.reply('follows it');
	release();
	await loading;
	await client.settled();
	expect(thread.getSnapshot()).toMatchObject({ replies: [{ text: 'follows it' }], isFollowing: true });
	client.disconnect();
});

test('the next connection loads what could not be loaded before', async () => {
	const { client, conversation, network, shown } = await stage();
	network.goOffline();
	const stop = conversation.subscribe(() => undefined);
	await until(conversation, ({ error }) => error === 'network_error');
	network.goOnline();
	await until(conversation, ({ isLoaded }) => isLoaded);
	expect(shown()).toEqual(range(15, 25));
	stop();
	client.disconnect();
});

test('a conversation that is watched before there is a connection is loaded once, when there is one', async () => {
	const { reader, channel } = await stage();
	const network = new Network();
	const client = sdk(server.url, reader, { ...network.options, pageSize: PAGE });
	const stop = client.conversation(channel).subscribe(() => undefined);
	expect(client.conversation(channel).getSnapshot()).toMatchObject({ conversation: null, isLoading: false });
	await client.connect();
	await client.settled();
	expect(client.conversation(channel).getSnapshot().messages).toHaveLength(PAGE);
	expect(network.callsOf('conversations.history')).toHaveLength(1);
	stop();
	client.disconnect();
});
