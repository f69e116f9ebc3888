import { expect, test } from 'bun:test';
import { createClient, type UnsentPost } from '../../client/src/index.ts';
import { FakeServer } from '../support/client/fake-server.ts';

/** Unsent messages survive the page, and are sent once. */

function storeOf() {
	const kept = new Map<string, UnsentPost>();
	return {
		kept,
		load: () => [...kept.values()],
		keep: (id: string, post: UnsentPost) => void kept.set(id, JSON.parse(JSON.stringify(post))),
		drop: (id: string) => void kept.delete(id),
	};
}

test('the next page sends the unsent messages of a closed page, in order, with the same ids', async () => {
	const unsent = storeOf();
	const first = new FakeServer({ 'chat.postMessage': () => new Promise(() => undefined) });
	const before = createClient({ ...first.options, unsent });
	void before.connect();
	await first.time.pass(0);
	first.socket.hello();
	const conversation = before.conversation('C1');
	void conversation.post('one');
	void conversation.post('two', { threadTs: '1.000001', broadcast: true });
	expect(before.getSnapshot().unsentCount).toBe(2);
	await first.time.pass(10);
	const ids = [...unsent.kept.keys()];
	expect([...unsent.kept.values()].map(({ user, error }) => [user, error])).toEqual([
		['U1', null],
		['U1', null],
	]);
	before.disconnect();

	let stamp = 1;
	const second = new FakeServer({
		'chat.postMessage': (args) => {
			stamp += 1;
			return { message: { ...args, user: 'U1', ts: `${stamp}.000000` } };
		},
	});
	// Messages of another user are not touched.
	unsent.keep('other', {
		user: 'U2',
		args: { channel: 'C1', text: 'x', client_msg_id: 'other' },
		firstSentAt: 0,
		error: null,
	});
	const after = createClient({ ...second.options, unsent });
	void after.connect();
	await second.time.pass(0);
	expect(
		after
			.conversation('C1')
			.getSnapshot()
			.messages.map(({ text, status }) => [text, status]),
	).toEqual([
		['one', 'sending'],
		['two', 'sending'],
	]);
	second.socket.hello();
	await second.time.pass(10);
	const sent = second.callsOf('chat.postMessage').map(({ args }) => args);
	expect(sent.map(({ text, client_msg_id, thread_ts }) => [text, client_msg_id, thread_ts])).toEqual([
		['one', ids[0], undefined],
		['two', ids[1], '1.000001'],
	]);
	expect(after.getSnapshot().unsentCount).toBe(0);
	expect([...unsent.kept.keys()]).toEqual(['other']);
	after.disconnect();
});

test('a rejected message stays rejected until it is sent again or discarded', async () => {
	const unsent = storeOf();
	const server = new FakeServer({ 'chat.postMessage': () => ({ error: 'is_archived' }) });
	const client = createClient({ ...server.options, unsent });
	void client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await client
		.conversation('C1')
		.post('late')
		.catch(() => undefined);
	const [id = ''] = unsent.kept.keys();
	expect(unsent.kept.get(id)?.error).toBe('is_archived');
	// It is not sent when there is a connection, so it does not count.
	expect(client.getSnapshot().unsentCount).toBe(0);
	client.conversation('C1').discard(id);
	expect([unsent.kept.size, client.getSnapshot().unsentCount]).toEqual([0, 0]);
	client.disconnect();
});

test('a message that the server no longer recognises is sent again only if the user asks for it', async () => {
	const unsent = storeOf();
	unsent.keep('old', {
		user: 'U1',
		args: { channel: 'C1', text: 'from last week', client_msg_id: 'old' },
		firstSentAt: 1_700_000_000_000 - 7 * 24 * 60 * 60 * 1000,
		error: null,
	});
	const server = new FakeServer({
		'chat.postMessage': (args) => ({ message: { ...args, user: 'U1', ts: '2.000000' } }),
	});
	const client = createClient({ ...server.options, unsent });
	void client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await server.time.pass(0);
	const conversation = client.conversation('C1');
	expect(conversation.getSnapshot().messages).toMatchObject([{ status: 'failed', error: 'outcome_unknown' }]);
	expect(server.callsOf('chat.postMessage')).toEqual([]);
	conversation.retry('old');
	await server.time.pass(0);
	expect(server.callsOf('chat.postMessage')).toHaveLength(1);
	expect(unsent.kept.size).toBe(0);
	client.disconnect();
});
