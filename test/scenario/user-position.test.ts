import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startEmbedded, type TestServer } from '../support/server.ts';
import { connect, socketUrl, TestSocket } from '../support/socket.ts';

/**
 * A position belongs to one user. Changes in other workspaces, or in conversations that the user is not in, do not move
 * it.
 */

let server: TestServer;
let [ada, bob, stranger] = [] as unknown as [Person, Person, Person];
let [shared, foreign, private_] = ['', '', ''];

beforeAll(async () => {
	server = await startEmbedded({});
	[ada, bob] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	[stranger] = (await makeWorkspace(server.url, 1, 'Elsewhere')).people as [Person];
	const create = async (who: Person, name: string, is_private = false): Promise<string> =>
		(await who.call('conversations.create', { name, is_private })).channel.id;
	shared = await create(ada, 'shared');
	await bob.call('conversations.join', { channel: shared });
	foreign = await create(stranger, 'foreign');
	private_ = await create(bob, 'private', true);
});
afterAll(() => server.stop());

async function positions(): Promise<string[]> {
	const counts = (await ada.call('client.counts')).position;
	const synced = (await ada.call('client.sync', { since: counts })).position;
	const socket = await connect(ada, { since: counts });
	const hello = (await socket.seen({ type: 'hello' })).position;
	// Becoming active changes the user's own state, so the test restores it.
	socket.close();
	await socket.closed;
	return [counts, synced, hello];
}

test('the position stays while other conversations are busy, and rises with the user’s own conversations', async () => {
	const before = (await ada.call('client.counts')).position;
	for (let number = 0; number < 5; number += 1) {
		await stranger.call('chat.postMessage', { channel: foreign, text: `${number}` });
		await bob.call('chat.postMessage', { channel: private_, text: `${number}` });
	}
	expect((await ada.call('client.counts')).position).toBe(before);
	expect(await ada.call('client.sync', { since: before })).toMatchObject({ events: [], position: before });

	const { ts } = await bob.call('chat.postMessage', { channel: shared, text: 'hello' });
	const { position, badge } = await ada.call('client.counts');
	expect(position).toBe(ts.replace('.', ''));
	expect(badge).toBe(0);
	const { events } = await ada.call('client.sync', { since: before });
	expect(events).toMatchObject([{ type: 'message', ts }]);
	expect((await ada.call('client.sync', { since: position })).events).toEqual([]);
});

test('all positions agree, and resuming from them misses nothing', async () => {
	const [counts, synced] = await positions();
	expect(synced).toBe(counts as string);
	await stranger.call('chat.postMessage', { channel: foreign, text: 'more' });
	const { ts } = await bob.call('chat.postMessage', { channel: shared, text: 'missed' });
	const socket = await connect(ada, { since: counts });
	expect((await socket.seen({ type: 'message' })).ts).toBe(ts);
	expect(socket.having({ type: 'message' })).toHaveLength(1);
	socket.close();
});

test('a socket opened without a position gets no missed events', async () => {
	const before = (await ada.call('client.counts')).position;
	await stranger.call('chat.postMessage', { channel: foreign, text: 'before the connect' });
	const url = await socketUrl(ada);
	await stranger.call('chat.postMessage', { channel: foreign, text: 'after it' });
	const { ts } = await bob.call('chat.postMessage', { channel: shared, text: 'in between' });
	const socket = new TestSocket(url);
	const hello = await socket.seen({ type: 'hello' });
	expect(hello).toMatchObject({ position: before, missed: 1 });
	expect((await socket.seen({ type: 'message' })).ts).toBe(ts);
	socket.close();
	await socket.closed;
});

test('a page cursor of the inbox contains no stamp of the server', async () => {
	for (const name of ['one', 'two']) {
		const channel = (await bob.call('conversations.create', { name })).channel.id;
		await bob.call('conversations.invite', { channel, users: ada.id });
		await bob.call('chat.postMessage', { channel, text: name });
	}
	const { response_metadata } = await ada.call('inbox.list', { limit: 1, unread_first: true });
	expect(response_metadata.next_cursor).not.toBe('');
	expect(Buffer.from(response_metadata.next_cursor, 'base64').toString('latin1')).not.toMatch(/\d{16}/);
});

test('the state of threads has its user’s position, also after archiving changed it', async () => {
	const channel = (await ada.call('conversations.create', { name: 'threads' })).channel.id;
	await bob.call('conversations.join', { channel });
	const { ts: thread_ts } = await ada.call('chat.postMessage', { channel, text: 'root' });
	await bob.call('chat.postMessage', { channel, text: 'reply', thread_ts });
	await bob.call('chat.postMessage', { channel: shared, text: 'newer than the reply' });
	const { position, threads } = await ada.call('client.counts');
	expect(threads.unread_count).toBe(1);
	const socket = await connect(ada, { since: position, counts: true });
	await stranger.call('chat.postMessage', { channel: foreign, text: 'elsewhere' });
	await bob.call('conversations.archive', { channel });
	const archived = await socket.seen({ type: 'channel_archive' });
	const threadState = await socket.seen({ type: 'update_thread_state', unread_count: 0 });
	// Clients drop a state that is older than theirs.
	expect(threadState.position).toBe(archived.position);
	socket.close();
	await socket.closed;
});
