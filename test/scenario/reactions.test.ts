import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sdk } from '../support/client/sdk.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { patienceMs, startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/**
 * Reactions over HTTP and sockets: permissions, what everybody sees, what a device that was offline gets, and that
 * nothing is unread.
 */

let server: TestServer;
let workspace: Workspace;
let ada: Person;
let grace: Person;
let outsider: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
	workspace = await makeWorkspace(server.url, 3);
	[ada, grace, outsider] = workspace.people as [Person, Person, Person];
	channel = (await ada.call('conversations.create', { name: 'reacting' })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
});
afterAll(() => server.stop());

const post = async (person: Person, text = 'words', more = {}): Promise<string> =>
	(await person.call('chat.postMessage', { channel, text, ...more })).ts;
const add = (person: Person, timestamp: string, name: string) =>
	person.call('reactions.add', { channel, timestamp, name });
const remove = (person: Person, timestamp: string, name: string) =>
	person.call('reactions.remove', { channel, timestamp, name });
// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
const summed = (reactions: any) => reactions.map(({ name, count, users }: any) => [name, count, users]);
const shown = async (person: Person, timestamp: string) => {
	const { message } = await person.call('reactions.get', { channel, timestamp });
	return summed(message.reactions ?? []);
};

test('a reaction is added, shown wherever the message is, and removed', async () => {
	const ts = await post(ada);
	await post(grace, 'a reply', { thread_ts: ts });
	await add(grace, ts, ':tada:');
	await add(ada, ts, 'tada');
	await add(ada, ts, '+1');
	const expected = [
		['tada', 2, [grace.id, ada.id]],
		['+1', 1, [ada.id]],
	];
	expect(await shown(ada, ts)).toEqual(expected);
	const views = [
		(await ada.call('conversations.history', { channel, latest: ts, inclusive: true, limit: 1 })).messages[0],
		(await grace.call('conversations.replies', { channel, ts })).messages[0],
		(await ada.call('subscriptions.thread.getView')).threads[0].root_msg,
	];
	for (const { reactions } of views) expect(summed(reactions)).toEqual(expected);
	await remove(ada, ts, 'tada');
	await remove(ada, ts, '+1');
	expect(await shown(grace, ts)).toEqual([['tada', 1, [grace.id]]]);
});

test('an answer lists the caller, however many users reacted before, and with full all of them', async () => {
	const { people } = await makeWorkspace(server.url, 23, 'Crowd');
	const [author, ...others] = people as [Person, ...Person[]];
	const [last, silent] = others.slice(-2) as [Person, Person];
	const place = (await author.call('conversations.create', { name: 'crowd' })).channel.id;
	await author.call('conversations.invite', { channel: place, users: others.map(({ id }) => id).join() });
	const { ts } = await author.call('chat.postMessage', { channel: place, text: 'words' });
	for (const person of others.slice(0, -1))
		await person.call('reactions.add', { channel: place, timestamp: ts, name: 'tada' });
	const listed = async (person: Person) => {
		const { messages } = await person.call('conversations.history', { channel: place });
		const [reaction] = messages[0].reactions;
		return [reaction.count, reaction.users.length, reaction.users.includes(person.id)];
	};
	expect(await listed(last)).toEqual([21, 21, true]);
	expect(await listed(others[0] as Person)).toEqual([21, 20, true]);
	expect(await listed(silent)).toEqual([21, 20, false]);
	const all = others.slice(0, -1).map(({ id }) => id);
	const usersWith = async (full: boolean) => {
		const { items } = await author.call('reactions.list', { user: last.id, full });
		const got = await author.call('reactions.get', { channel: place, timestamp: ts, full });
		return [items[0].message, got.message].map(({ reactions }) => reactions[0].users);
	};
	expect(await usersWith(false)).toEqual([all.slice(0, 20), all.slice(0, 20)]);
	expect(await usersWith(true)).toEqual([all, all]);
});

test('errors are Slack’s', async () => {
	const ts = await post(ada);
	await add(ada, ts, 'eyes');
	await expect(add(ada, ts, 'eyes')).rejects.toThrow('already_reacted');
	await expect(remove(grace, ts, 'eyes')).rejects.toThrow('no_reaction');
	await expect(add(ada, ts, 'not an emoji')).rejects.toThrow('invalid_name');
	await expect(add(ada, 'yesterday', 'eyes')).rejects.toThrow('bad_timestamp');
	await expect(ada.call('reactions.add', { channel, name: 'eyes' })).rejects.toThrow('no_item_specified');
	await expect(add(ada, '1000000000.000001', 'eyes')).rejects.toThrow('message_not_found');
	await expect(add(outsider, ts, 'eyes')).rejects.toThrow('not_in_channel');
	// Users who may read a public channel see its reactions.
	expect(await shown(outsider, ts)).toEqual([['eyes', 1, [ada.id]]]);
});

test('users outside a private channel learn nothing about its reactions', async () => {
	const secret = (await ada.call('conversations.create', { name: 'secret', is_private: true })).channel.id;
	const { ts: timestamp } = await ada.call('chat.postMessage', { channel: secret, text: 'hidden' });
	await ada.call('reactions.add', { channel: secret, timestamp, name: 'lock' });
	for (const method of ['reactions.add', 'reactions.remove', 'reactions.get'])
		await expect(outsider.call(method, { channel: secret, timestamp, name: 'lock' })).rejects.toThrow(
			'channel_not_found',
		);
	const own = await ada.call('reactions.list', {});
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	expect(own.items.map(({ channel }: any) => channel)).toContain(secret);
	const others = await outsider.call('reactions.list', { user: ada.id });
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	expect(others.items.map(({ channel }: any) => channel)).not.toContain(secret);
	expect(JSON.stringify(others)).not.toContain('hidden');
});

test('reactions are listed newest first, each message once, page by page', async () => {
	const list = (await makeWorkspace(server.url, 1, 'Lists')).people[0] as Person;
	const place = (await list.call('conversations.create', { name: 'listed' })).channel.id;
	const posted: string[] = [];
	for (let index = 0; index < 5; index += 1) {
		const { ts } = await list.call('chat.postMessage', { channel: place, text: `${index}` });
		for (const name of ['one', 'two'])
			await list.call('reactions.add', { channel: place, timestamp: ts, name });
		posted.unshift(ts);
	}
	const found: string[] = [];
	let cursor = '';
	do {
		const page = await list.call('reactions.list', { limit: 2, ...(cursor ? { cursor } : {}) });
		expect(page.items.length).toBeLessThanOrEqual(2);
		// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
		found.push(...page.items.map(({ message }: any) => message.ts));
		cursor = page.response_metadata.next_cursor;
	} while (cursor !== '');
	expect([...new Set(found)]).toEqual(posted);
	await expect(outsider.call('reactions.list', { user: list.id })).rejects.toThrow('user_not_found');
});

test('every member receives a reaction live', async () => {
	const ts = await post(ada);
	const socket = await connect(grace);
	await add(ada, ts, 'wave');
	const event = await socket.seen({ type: 'reaction_added', reaction: 'wave' });
	expect(event).toMatchObject({
		user: ada.id,
		item: { type: 'message', channel, ts },
		item_user: ada.id,
		current: { name: 'wave', count: 1, users: [ada.id] },
	});
	expect(event.event_ts).toBeString();
	await remove(ada, ts, 'wave');
	expect(await socket.seen({ type: 'reaction_removed' })).toMatchObject({
		reaction: 'wave',
		current: { count: 0 },
	});
	socket.close();
});

test('a reaction makes nothing unread', async () => {
	const ts = await post(grace);
	await grace.call('conversations.mark', { channel, ts });
	const counts = async (person: Person) => {
		const { channels, badge } = await person.call('client.counts');
		// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
		const { unread_count, mention_count, last_read } = channels.find(({ id }: any) => id === channel);
		return { unread_count, mention_count, last_read, badge };
	};
	const before = await counts(grace);
	await add(ada, ts, 'heart');
	await eventually(async () => expect(await counts(grace)).toEqual(before), patienceMs());
	expect(before.unread_count).toBe(0);
});

test('a device that was offline shows the same reactions as others', async () => {
	const [kept, gone, edited] = [await post(ada, 'kept'), await post(ada, 'gone'), await post(ada, 'edited')];
	await add(grace, kept, 'one');
	await add(ada, kept, 'two');
	await add(ada, gone, 'three');
	const client = sdk(server.url, grace);
	await client.connect();
	const view = client.conversation(channel);
	// The conversation is loaded, because a cluster may repeat events, such as the join, which reload it.
	const stop = view.subscribe(() => undefined);
	await view.load();
	const onScreen = () =>
		Object.fromEntries(
			view
				.getSnapshot()
				.messages.map(({ ts, reactions }) => [
					ts,
					reactions.map(({ name, count, users }) => [name, count, users]),
				]),
		);
	expect(onScreen()[kept]).toEqual([
		['one', 1, [grace.id]],
		['two', 1, [ada.id]],
	]);
	client.disconnect();
	await remove(grace, kept, 'one');
	await add(ada, kept, 'one');
	await add(grace, kept, 'four');
	await remove(ada, kept, 'two');
	await add(ada, edited, 'five');
	await ada.call('chat.update', { channel, ts: edited, text: 'edited again' });
	await ada.call('chat.delete', { channel, ts: gone });
	const fresh = await post(ada, 'posted meanwhile');
	await add(grace, fresh, 'six');
	await client.connect();
	await client.settled();
	await eventually(async () => {
		await client.settled();
		expect(onScreen()[kept]).toEqual([
			['one', 1, [ada.id]],
			['four', 1, [grace.id]],
		]);
		expect(onScreen()[edited]).toEqual([['five', 1, [ada.id]]]);
		expect(onScreen()[fresh]).toEqual([['six', 1, [grace.id]]]);
		expect(onScreen()[gone]).toBeUndefined();
	}, patienceMs());
	// A live edit leaves the reactions unchanged; the SDK's own calls are safe to repeat.
	await ada.call('chat.update', { channel, ts: kept, text: 'kept, and edited' });
	await view.react(kept, 'four');
	await view.unreact(kept, 'four');
	await view.unreact(kept, 'four');
	await eventually(async () => {
		await client.settled();
		expect(onScreen()[kept]).toEqual([['one', 1, [ada.id]]]);
	}, patienceMs());
	stop();
	client.disconnect();
});

test('a deleted message has no reactions, and is not in reactions.list', async () => {
	const ts = await post(ada);
	await post(grace, 'reply', { thread_ts: ts });
	await add(grace, ts, 'ghost');
	await ada.call('chat.delete', { channel, ts });
	const [root] = (await grace.call('conversations.replies', { channel, ts })).messages;
	expect(root.subtype).toBe('tombstone');
	expect(root.reactions).toBeUndefined();
	await expect(add(grace, ts, 'ghost')).rejects.toThrow('message_not_found');
	const { items } = await grace.call('reactions.list');
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	expect(items.map(({ message }: any) => message.ts)).not.toContain(ts);
});
