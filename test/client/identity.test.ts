import { expect, test } from 'bun:test';
import { createClient } from '../../client/src/index.ts';
import { channel, counts, FakeServer, row } from '../support/client/fake-server.ts';

/**
 * Unchanged values keep their identity, and listeners are called once for changes that arrive together: 1,000 channels
 * stay cheap.
 */

const CHANNELS = 1000;
const ids = Array.from({ length: CHANNELS }, (_, index) => `C${index}`);

const message = (id: string, number: number, prev: number) => ({
	type: 'message',
	channel: id,
	channel_type: 'channel',
	user: 'U2',
	text: `number ${number}`,
	ts: ts(number),
	prev_ts: prev === 0 ? '0000000000.000000' : ts(prev),
	position: `17000000${String(number).padStart(8, '0')}`,
});
const ts = (number: number): string => `1700000${String(number).padStart(3, '0')}.000000`;

async function stage() {
	const server = new FakeServer({
		'client.counts': () => counts(ids.map((id) => row(id))),
		'users.conversations': () => ({ channels: ids.map(channel) }),
		'conversations.history': () => ({ messages: [], has_more: false }),
	});
	const client = createClient(server.options);
	const connected = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connected;
	await server.time.pass(100);
	return { server, client };
}

test('a snapshot never changes', async () => {
	const { server, client } = await stage();
	const before = client.getSnapshot();
	server.socket.push(message('C7', 1, 0));
	expect(before.conversations.get('C7')?.unreadCount).toBe(0);
	expect(before.badge).toBe(0);
	const after = client.getSnapshot();
	expect(after).not.toBe(before);
	expect(after.conversations.get('C7')?.unreadCount).toBe(1);
	expect(client.getSnapshot()).toBe(after);
});

test('only changed parts of a snapshot are new objects', async () => {
	const { server, client } = await stage();
	const before = client.getSnapshot();
	const [inbox, quiet] = [client.inbox.getSnapshot(), client.conversation('C8').getSnapshot()];
	server.socket.push(message('C7', 1, 0));
	const after = client.getSnapshot();
	const changed = ids.filter((id) => after.conversations.get(id) !== before.conversations.get(id));
	expect(changed).toEqual(['C7']);
	expect(after.threads).toBe(before.threads);
	expect(after.connection).toBe(before.connection);
	expect(after.users).toBe(before.users);
	expect(client.conversation('C8').getSnapshot()).toBe(quiet);
	expect(client.inbox.getSnapshot()).not.toBe(inbox);
	expect(client.inbox.getSnapshot()[0]).toBe(after.conversations.get('C7') as never);
});

test('an event that changes nothing notifies no listener', async () => {
	const { server, client } = await stage();
	let notified = 0;
	client.subscribe(() => {
		notified += 1;
	});
	server.socket.push(
		{ type: 'pong', reply_to: 7 },
		{ type: 'unread_counts_updated', channel: 'C7', ...row('C7'), position: '0' },
	);
	server.socket.push({ type: 'something_new', position: '1700000000000001' });
	await server.time.pass(100);
	expect(notified).toBe(0);
	const conversation = client.conversation('C7');
	conversation.subscribe(() => {
		notified += 1;
	});
	await server.time.pass(100);
	const view = conversation.getSnapshot();
	notified = 0;
	// An edit of a message that is not loaded.
	const edited = { ts: ts(1), user: 'U2', text: 'better' };
	server.socket.push({ type: 'message', subtype: 'message_changed', channel: 'C7', message: edited });
	await server.time.pass(100);
	expect(notified).toBe(0);
	expect(conversation.getSnapshot()).toBe(view);
});

test('a burst of events notifies at most once per frame, and only the listeners that it concerns', async () => {
	const { server, client } = await stage();
	const notified = { client: 0, badge: 0, busy: 0, quiet: 0 };
	const count = (name: keyof typeof notified) => () => {
		notified[name] += 1;
	};
	client.subscribe(count('client'));
	client.badge.subscribe(count('badge'));
	client.conversation('C7').subscribe(count('busy'));
	client.conversation('C8').subscribe(count('quiet'));
	await server.time.pass(100);
	for (const name of ['client', 'badge', 'busy', 'quiet'] as const) notified[name] = 0;
	for (let number = 1; number <= 500; number += 1) {
		server.socket.push(message('C7', number, number - 1));
		// Each event in its own turn, as a socket delivers them.
		await Bun.sleep(0);
	}
	await server.time.pass(16);
	expect(client.conversation('C7').getSnapshot().conversation?.unreadCount).toBe(500);
	expect(notified.client).toBe(2);
	expect(notified.busy).toBe(2);
	expect(notified.quiet).toBe(0);
	expect(notified.badge).toBe(0);
});

test('an unsubscribed listener is not called, even if the same function subscribed twice', async () => {
	const { server, client } = await stage();
	let notified = 0;
	const listener = () => {
		notified += 1;
	};
	const [first, second] = [client.subscribe(listener), client.subscribe(listener)];
	first();
	first();
	server.socket.push(message('C7', 1, 0));
	await server.time.pass(100);
	expect(notified).toBe(1);
	second();
	server.socket.push(message('C7', 2, 1));
	await server.time.pass(100);
	expect(notified).toBe(1);
});
