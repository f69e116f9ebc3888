import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ApiError, type ClientOptions } from '../../client/src/index.ts';
import { Network, until } from '../support/client/network.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { Random } from '../support/oracle/random.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Messages are shown at once, sent until the server has them, and exist once. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage(options: Partial<ClientOptions> = {}) {
	const { people } = await makeWorkspace(server.url, 2);
	const [author, other] = people as [Person, Person];
	const { channel } = await author.call('conversations.create', { name: 'quay' });
	await author.call('conversations.invite', { channel: channel.id, users: other.id });
	const network = new Network();
	const client = sdk(server.url, author, { ...network.options, random: () => 0, ...options });
	await client.connect();
	const conversation = client.conversation(channel.id);
	const stop = conversation.subscribe(() => undefined);
	await client.settled();
	const shown = () => conversation.getSnapshot().messages.map(({ text, status }) => `${text}: ${status}`);
	const served = async (): Promise<string[]> => {
		const { messages } = await other.call('conversations.history', { channel: channel.id });
		return messages.map(({ text }: { text: string }) => text).reverse();
	};
	const end = () => {
		stop();
		client.disconnect();
	};
	return { author, other, channel: channel.id as string, network, client, conversation, shown, served, end };
}

test('a message is shown before it is sent, then at its place', async () => {
	const { conversation, client, author, shown, end } = await stage();
	const posting = conversation.post('hello');
	expect(shown()).toEqual(['hello: sending']);
	const message = await posting;
	expect(message).toMatchObject({ text: 'hello', status: 'sent', user: author.id });
	expect(shown()).toEqual(['hello: sent']);
	await expectExact(client, author);
	expect(conversation.getSnapshot().messages).toEqual([message]);
	end();
});

for (const when of ['before', 'after'] as const) {
	test(`the answer is lost ${when} the server stores the message: the client sends it again, and it exists once`, async () => {
		const { conversation, client, network, shown, served, author, end } = await stage();
		network.lose('chat.postMessage', when, 3);
		await conversation.post('hello');
		await client.settled();
		expect(shown()).toEqual(['hello: sent']);
		expect(await served()).toEqual(['hello']);
		const ids = network.callsOf('chat.postMessage').map(({ client_msg_id }) => client_msg_id);
		expect(ids.length).toBeGreaterThan(0);
		expect(new Set(ids).size).toBe(1);
		await expectExact(client, author);
		end();
	});
}

test('the answer and the events are lost: the client resumes and sends again, and the message exists once', async () => {
	const { conversation, client, network, shown, served, end } = await stage({ random: () => 0.01 });
	network.lose('chat.postMessage', 'after', 2);
	network.drop(({ type, text }) => type === 'message' && text === 'hello');
	const posting = conversation.post('hello');
	await network.served('chat.postMessage', 2);
	network.cut();
	await posting;
	await client.settled();
	expect(shown()).toEqual(['hello: sent']);
	expect(await served()).toEqual(['hello']);
	end();
});

test('a message that another device deleted before its answer arrives does not return', async () => {
	const { conversation, client, network, author, channel, shown, end } = await stage();
	network.lose('chat.postMessage', 'after', 1);
	network.drop(({ type, text }) => type === 'message' && text === 'hello');
	const posting = conversation.post('hello');
	await network.served('chat.postMessage', 1);
	network.goOffline();
	const { messages } = await author.call('conversations.history', { channel });
	await author.call('chat.delete', { channel, ts: messages[0].ts });
	network.goOnline();
	await posting;
	await client.settled();
	expect(shown()).toEqual([]);
	await expectExact(client, author);
	end();
});

test('a client_msg_id from the application is sent, and posting it twice creates one message', async () => {
	const { conversation, client, network, shown, served, end } = await stage();
	const posted = [];
	for (const text of ['hello', 'hello again'])
		posted.push(await conversation.post(text, { clientMsgId: 'form-1' }));
	await client.settled();
	expect(posted.map(({ text }) => text)).toEqual(['hello', 'hello']);
	const ids = network.callsOf('chat.postMessage').map((call) => call.client_msg_id);
	expect(new Set(ids)).toEqual(new Set(['form-1']));
	expect(shown()).toEqual(['hello: sent']);
	expect(await served()).toEqual(['hello']);
	end();
});

test('messages written faster than they are sent arrive in order, each once', async () => {
	const { conversation, network, served, end } = await stage();
	await Promise.all(['one', 'two', 'three'].map((text) => conversation.post(text)));
	expect(network.callsOf('chat.postMessage').map(({ text }) => text)).toEqual(['one', 'two', 'three']);
	expect(await served()).toEqual(['one', 'two', 'three']);
	end();
});

test('messages written during an outage are queued, and sent in order afterwards', async () => {
	const { conversation, client, network, shown, served, end } = await stage();
	network.goOffline();
	const posts = ['one', 'two', 'three'].map((text) => conversation.post(text));
	expect(shown()).toEqual(['one: sending', 'two: sending', 'three: sending']);
	await until(client, ({ connection }) => connection.status === 'waiting');
	expect(await served()).toEqual([]);
	network.goOnline();
	await Promise.all(posts);
	await client.settled();
	expect(shown()).toEqual(['one: sent', 'two: sent', 'three: sent']);
	expect(await served()).toEqual(['one', 'two', 'three']);
	expect(network.callsOf('chat.postMessage').map(({ text }) => text)).toEqual(['one', 'two', 'three']);
	end();
});

test('a rejected message stays as failed, and can be sent again or discarded', async () => {
	const { conversation, client, author, other, channel, shown, served, end } = await stage();
	await other.call('conversations.kick', { channel, user: author.id });
	const rejected = await conversation.post('one').catch((error) => error);
	expect(rejected).toBeInstanceOf(ApiError);
	expect(rejected.code).toBe('not_in_channel');
	conversation.post('two');
	await until(conversation, ({ messages }) => messages.every(({ status }) => status === 'failed'));
	await until(conversation, ({ messages }) => messages.length === 2);
	const [one, two] = conversation.getSnapshot().messages;
	expect(one?.error).toBe('not_in_channel');
	await other.call('conversations.invite', { channel, users: author.id });
	conversation.retry(String(one?.clientMsgId));
	conversation.discard(String(two?.clientMsgId));
	await until(conversation, ({ messages }) => messages.some(({ status }) => status === 'sent'));
	await client.settled();
	expect(shown()).toEqual(['one: sent']);
	expect(await served()).toEqual(['one']);
	end();
});

test('a message fails after the maximum number of attempts', async () => {
	const { conversation, network, served, shown, end } = await stage({ sendAttempts: 3 });
	network.lose('chat.postMessage', 'before', 3);
	const error = await conversation.post('hello').catch((rejected) => rejected);
	expect(error.code).toBe('network_error');
	expect(shown()).toEqual(['hello: failed']);
	expect(await served()).toEqual([]);
	end();
});

test('replies are shown in their thread, broadcast replies also in the conversation', async () => {
	const { conversation, client, channel, author, end } = await stage();
	const root = await conversation.post('root');
	const thread = client.thread(channel, root.ts);
	const stop = thread.subscribe(() => undefined);
	await client.settled();
	const quiet = thread.reply('quiet');
	const loud = thread.reply('loud', { broadcast: true });
	expect(thread.getSnapshot().replies.map(({ text }) => text)).toEqual(['quiet', 'loud']);
	expect(conversation.getSnapshot().messages.map(({ text }) => text)).toEqual(['root', 'loud']);
	await Promise.all([quiet, loud]);
	await client.settled();
	expect(thread.getSnapshot()).toMatchObject({ isFollowing: true, unreadCount: 0, root: { replyCount: 2 } });
	expect(thread.getSnapshot().replies.map(({ status }) => status)).toEqual(['sent', 'sent']);
	expect(conversation.getSnapshot().messages.map(({ text }) => text)).toEqual(['root', 'loud']);
	await expectExact(client, author);
	stop();
	end();
});

test('edits and deletes appear in the conversation and in its preview', async () => {
	const { conversation, client, channel, author, end } = await stage();
	const first = await conversation.post('first');
	const second = await conversation.post('second');
	await conversation.edit(second.ts, 'second, better');
	await client.settled();
	const preview = () => client.getSnapshot().conversations.get(channel)?.preview;
	expect(conversation.getSnapshot().messages.at(-1)).toMatchObject({ text: 'second, better' });
	expect(preview()).toEqual({ ts: second.ts, user: author.id, text: 'second, better' });
	await conversation.delete(second.ts);
	await expectExact(client, author);
	expect(conversation.getSnapshot().messages.map(({ ts }) => ts)).toEqual([first.ts]);
	expect(preview()).toEqual({ ts: first.ts, user: author.id, text: 'first' });
	end();
});

test('the preview skips tombstones, and is loaded for a conversation that the user joins', async () => {
	const { conversation, client, channel, author, other, end } = await stage();
	const first = await conversation.post('first');
	const second = await conversation.post('second');
	await other.call('chat.postMessage', { channel, text: 'a reply', thread_ts: second.ts });
	await client.settled();
	const preview = (id: string) => client.getSnapshot().conversations.get(id)?.preview;
	await conversation.delete(second.ts);
	await expectExact(client, author);
	expect(conversation.getSnapshot().messages.map(({ isTombstone }) => isTombstone)).toEqual([false, true]);
	expect(preview(channel)).toEqual({ ts: first.ts, user: author.id, text: 'first' });

	const { channel: joined } = await other.call('conversations.create', { name: 'pier' });
	const { ts } = await other.call('chat.postMessage', { channel: joined.id, text: 'before you' });
	await client.join(joined.id);
	await client.settled();
	const before = { ts, user: other.id, text: 'before you' };
	expect(preview(joined.id)).toEqual(before);
	await other.call('conversations.archive', { channel: joined.id });
	await client.settled();
	expect(preview(joined.id)).toBeUndefined();
	await other.call('conversations.unarchive', { channel: joined.id });
	await client.settled();
	expect(preview(joined.id)).toEqual(before);
	end();
});

for (const seed of [51, 52]) {
	test(`everything fails at random (${seed}) and the server restarts: each message exists once, in order`, async () => {
		const own = await startServer();
		const random = new Random(seed);
		const { people } = await makeWorkspace(own.url, 1);
		const author = people[0] as Person;
		const { channel } = await author.call('conversations.create', { name: 'quay' });
		const network = new Network();
		const client = sdk(own.url, author, { ...network.options, random: () => random.below(100) / 1000 });
		await client.connect();
		const conversation = client.conversation(channel.id);
		const stop = conversation.subscribe(() => undefined);
		await client.settled();
		let failures = 0;
		network.fails = (method) => {
			const isLost = method === 'chat.postMessage' && random.chance(0.3);
			if (isLost) failures += 1;
			return isLost;
		};
		const texts = Array.from({ length: 40 }, (_, index) => `number ${index}`);
		const posts: Promise<unknown>[] = [];
		for (const [index, text] of texts.entries()) {
			posts.push(conversation.post(text));
			await Bun.sleep(random.below(10));
			if (random.chance(0.2)) network.cut();
			if (index === 20) await own.restart();
		}
		await Promise.all(posts);
		network.fails = () => false;
		await expectExact(client, author);
		const { messages } = await author.call('conversations.history', { channel: channel.id });
		expect(messages.map(({ text }: { text: string }) => text).reverse()).toEqual(texts);
		const shown = conversation.getSnapshot().messages;
		expect(shown.map(({ text }) => text)).toEqual(texts);
		expect(shown.every(({ status }) => status === 'sent')).toBe(true);
		expect(failures).toBeGreaterThan(5);
		stop();
		client.disconnect();
		await own.stop();
	});
}

test('files are uploaded with progress, shown, linked and deleted', async () => {
	const { client, conversation, channel, other, network, end } = await stage();
	const progress: number[] = [];
	const sources = ['one', 'two!'].map((text) => ({ content: new Blob([text]), name: `${text}.txt` }));
	const [file] = await client.uploadFiles(sources, {
		channel,
		comment: 'both',
		onProgress: (sent, total) => progress.push(sent / total),
	});
	expect(file).toMatchObject({ name: 'one.txt', size: 3, mimetype: 'text/plain', isDeleted: false });
	expect([progress[0], progress.at(-1)]).toEqual([0, 1]);
	// The content goes through the `fetch` of the options too.
	expect(network.calls.filter(({ method }) => method.startsWith('/upload/'))).toHaveLength(2);
	await client.settled();
	const [message] = conversation.getSnapshot().messages;
	expect(message).toMatchObject({ text: 'both', files: [{ name: 'one.txt' }, { name: 'two!.txt' }] });
	const id = file?.id ?? '';
	const [link, same] = await Promise.all([client.fileLink(id), client.fileLink(id)]);
	expect(same).toEqual(link);
	expect(await (await fetch(link?.url ?? '')).text()).toBe('one');
	expect(await client.fileLink('F00000000')).toBeNull();
	await client.deleteFile(id);
	await until(conversation, ({ messages }) => messages[0]?.files[0]?.isDeleted === true);
	expect((await other.call('conversations.history', { channel })).messages).toHaveLength(1);
	const aborted = client.uploadFiles(sources, { channel, signal: AbortSignal.abort(new Error('no more')) });
	await expect(aborted).rejects.toThrow('no more');
	end();
});
