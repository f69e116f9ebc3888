import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sdk } from '../support/client/sdk.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { patienceMs, startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** Pins, over HTTP and sockets, and for a device that was offline. */

let server: TestServer;
let ada: Person;
let grace: Person;
let outsider: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
	const workspace = await makeWorkspace(server.url, 3, 'Pins');
	[ada, grace, outsider] = workspace.people as [Person, Person, Person];
	channel = (await ada.call('conversations.create', { name: 'pinning', is_private: true })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
});
afterAll(() => server.stop());

const post = async (text: string): Promise<string> =>
	(await ada.call('chat.postMessage', { channel, text })).ts;
const pin = (person: Person, timestamp: string) => person.call('pins.add', { channel, timestamp });
const unpin = (person: Person, timestamp: string) => person.call('pins.remove', { channel, timestamp });
const listed = async (): Promise<string[]> =>
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	(await ada.call('pins.list', { channel })).items.map(({ message }: any) => message.ts);

test('a pin is added, listed, shown on the message, announced and removed', async () => {
	const [first, second] = [await post('first'), await post('second')];
	const socket = await connect(grace);
	await pin(ada, first);
	await pin(grace, second);
	expect(await listed()).toEqual([second, first]);
	const event = await socket.seen({ type: 'pin_added', user: ada.id });
	expect(event).toMatchObject({
		channel_id: channel,
		item: { type: 'message', channel, message: { ts: first, text: 'first' }, created_by: ada.id },
		item_user: ada.id,
		pin_count: 1,
		has_pins: true,
	});
	const history = await grace.call('conversations.history', { channel, limit: 2 });
	expect(history.pin_count).toBe(2);
	expect(history.messages[1]).toMatchObject({ pinned_to: [channel], pinned_info: { pinned_by: ada.id } });
	const [item] = (await grace.call('pins.list', { channel })).items;
	expect(item).toMatchObject({ type: 'message', channel, created_by: grace.id });
	expect(item.message.permalink).toContain(channel);
	await unpin(grace, first);
	expect(await socket.seen({ type: 'pin_removed' })).toMatchObject({ pin_count: 1 });
	await ada.call('chat.delete', { channel, ts: second });
	expect(await listed()).toEqual([]);
	socket.close();
});

test('errors are Slack’s', async () => {
	const ts = await post('once');
	await pin(ada, ts);
	await expect(pin(grace, ts)).rejects.toThrow('already_pinned');
	await unpin(grace, ts);
	await expect(unpin(ada, ts)).rejects.toThrow('no_pin');
	await expect(ada.call('pins.add', { channel })).rejects.toThrow('no_item_specified');
	await expect(pin(ada, 'x')).rejects.toThrow('bad_timestamp');
	await expect(pin(ada, '1000000000.000001')).rejects.toThrow('message_not_found');
	for (const method of ['pins.add', 'pins.remove', 'pins.list'])
		await expect(outsider.call(method, { channel, timestamp: ts })).rejects.toThrow('channel_not_found');
});

test('a device that was offline shows what is pinned', async () => {
	const [kept, down] = [await post('kept'), await post('down')];
	await pin(ada, down);
	const client = sdk(server.url, grace);
	await client.connect();
	const view = client.conversation(channel);
	// The conversation is loaded, because a cluster may repeat events, such as the join, which reload it.
	const stop = view.subscribe(() => undefined);
	await view.load();
	const pinned = () =>
		view
			.getSnapshot()
			.messages.filter(({ isPinned }) => isPinned)
			.map(({ ts }) => ts);
	expect(pinned()).toEqual([down]);
	client.disconnect();
	await unpin(ada, down);
	await pin(ada, kept);
	await ada.call('chat.update', { channel, ts: kept, text: 'kept, and edited' });
	await client.connect();
	await eventually(async () => {
		await client.settled();
		expect(pinned()).toEqual([kept]);
	}, patienceMs());
	stop();
	client.disconnect();
});
