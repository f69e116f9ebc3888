import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** inbox.list: conversations by latest activity, in pages that stay stable while conversations change. */

let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

interface Item {
	id: string;
	latest: { ts: string; user: string; text: string } | null;
	unread_count: number;
}

/** A workspace of its own, with this many channels; all but the last have a message by Ada. */
async function channels(count: number, prefix: string): Promise<string[]> {
	const { people } = await makeWorkspace(server.url, 2, prefix);
	[ada, grace] = people as [Person, Person];
	const ids: string[] = [];
	for (let index = 0; index < count; index += 1) {
		const { channel } = await ada.call('conversations.create', { name: `${prefix}-${index}` });
		await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
		if (index < count - 1) await ada.call('chat.postMessage', { channel: channel.id, text: `in ${index}` });
		ids.push(channel.id);
	}
	return ids;
}

async function list(who: Person, args: object = {}): Promise<{ items: Item[]; next: string }> {
	const { items, response_metadata } = await who.call('inbox.list', { ...args });
	return { items, next: response_metadata.next_cursor };
}

async function pages(who: Person, args: object): Promise<string[]> {
	const ids: string[] = [];
	let cursor = '';
	do {
		const page = await list(who, { ...args, ...(cursor ? { cursor } : {}) });
		ids.push(...page.items.map(({ id }) => id));
		cursor = page.next;
	} while (cursor !== '');
	return ids;
}

test('conversations are sorted by newest activity, with counts and newest message; empty ones are last', async () => {
	const [first, second, empty] = (await channels(3, 'order')) as [string, string, string];
	const { items } = await list(grace);
	expect(items.map(({ id }) => id)).toEqual([second, first, empty]);
	expect(items[0]).toMatchObject({ unread_count: 1, latest: { user: ada.id, text: 'in 1' } });
	expect(items[2]).toMatchObject({ unread_count: 0, latest: null });
	await ada.call('chat.postMessage', { channel: first, text: 'again' });
	expect((await list(grace)).items[0]).toMatchObject({ id: first, latest: { text: 'again' } });
});

test('pages contain every conversation once, even if one moves to the top in between', async () => {
	const ids = await channels(9, 'pages');
	expect((await pages(grace, { limit: 2 })).sort()).toEqual([...ids].sort());
	const page = await list(grace, { limit: 4 });
	const moved = ids[0] as string;
	await ada.call('chat.postMessage', { channel: moved, text: 'to the top' });
	const rest = await list(grace, { limit: 10, cursor: page.next });
	const seen = [...page.items, ...rest.items].map(({ id }) => id);
	expect(new Set(seen).size).toBe(seen.length);
	expect([...seen, moved].sort()).toEqual([...ids].sort());
});

test('deleting the newest message moves its conversation back', async () => {
	const [first, second] = (await channels(3, 'deleted')) as [string, string, string];
	const { ts } = await ada.call('chat.postMessage', { channel: first, text: 'oops' });
	expect((await list(grace)).items[0]?.id).toBe(first);
	await ada.call('chat.delete', { channel: first, ts });
	expect((await list(grace)).items.map(({ id }) => id).slice(0, 2)).toEqual([second, first]);
});

test('unread_first lists unread conversations before the rest, also across pages', async () => {
	const ids = await channels(6, 'unread');
	const [oldest, , middle] = ids as [string, string, string];
	for (const channel of ids.slice(0, -1))
		if (channel !== oldest && channel !== middle)
			await grace.call('conversations.mark', { channel, ts: '9999999999.000000' });
	const ordered = await pages(grace, { limit: 2, unread_first: true });
	expect(ordered.slice(0, 2)).toEqual([middle, oldest]);
	expect([...ordered].sort()).toEqual([...ids].sort());
});

test('with unread_first every conversation is listed once, whatever is read and marked unread meanwhile', async () => {
	const ids = await channels(10, 'stable');
	const [readLater, , markedUnread] = ids as [string, string, string];
	for (const channel of ids.slice(2, -1))
		await grace.call('conversations.mark', { channel, ts: '9999999999.000000' });
	const first = await list(grace, { limit: 1, unread_first: true });
	// Conversations that are not listed yet are read, listed ones are read, and read ones are marked unread.
	await grace.call('client.markAllRead', {});
	const { messages } = await grace.call('conversations.history', { channel: markedUnread });
	await grace.call('conversations.markUnread', { channel: markedUnread, ts: messages[0].ts });
	const rest = await list(grace, { limit: 20, unread_first: true, cursor: first.next });
	const met = [...first.items, ...rest.items];
	expect(met.map(({ id }) => id).sort()).toEqual([...ids].sort());
	expect(met[1]).toMatchObject({ id: readLater, unread_count: 0 });
	expect(met.find(({ id }) => id === markedUnread)).toMatchObject({ unread_count: 1 });
	expect((await list(grace, { limit: 1, unread_first: true })).items[0]?.id).toBe(markedUnread);
});

test('a cursor of the other order, or of an unknown list, is rejected with the reason', async () => {
	const [channel] = await channels(4, 'orders');
	const unreadFirst = await list(grace, { limit: 1, unread_first: true });
	const byActivity = await list(grace, { limit: 1 });
	const other = 'list with another unread_first';
	await rejected({ cursor: unreadFirst.next }, other);
	await rejected({ cursor: byActivity.next, unread_first: true }, other);
	// As many lists as the server keeps.
	for (let later = 0; later < 8; later += 1) {
		await ada.call('chat.postMessage', { channel, text: `later ${later}` });
		await list(grace, { limit: 1, unread_first: true });
	}
	await rejected({ cursor: unreadFirst.next, unread_first: true }, 'start again without a cursor');
});

async function rejected(args: object, why: string): Promise<void> {
	const response = await fetch(`${server.url}/api/inbox.list`, {
		method: 'POST',
		headers: { authorization: `Bearer ${grace.token}`, 'content-type': 'application/json' },
		body: JSON.stringify(args),
	});
	const body = (await response.json()) as { error?: string; response_metadata?: { messages: string[] } };
	expect(body.error).toBe('invalid_cursor');
	expect(body.response_metadata?.messages[0]).toContain(why);
}

test('left and archived conversations are not listed; a foreign cursor is rejected', async () => {
	const [left, archived, kept] = (await channels(3, 'gone')) as [string, string, string];
	await grace.call('conversations.leave', { channel: left });
	await ada.call('conversations.archive', { channel: archived });
	expect((await list(grace)).items.map(({ id }) => id)).toEqual([kept]);
	const cursor = Buffer.from('inbox:nonsense').toString('base64');
	await expect(list(grace, { cursor })).rejects.toThrow('invalid_cursor');
});

test('a user in many conversations gets the same list as from reading all of them', async () => {
	const ids = await channels(620, 'many');
	const byWalking = await pages(grace, { limit: 100 });
	expect(byWalking).toEqual([...ids.slice(0, -1).reverse(), ids.at(-1) as string]);
	// Back to the original state, once.
	const [oldest] = ids as [string];
	const { ts } = await ada.call('chat.postMessage', { channel: oldest, text: 'oops' });
	expect((await list(grace)).items[0]?.id).toBe(oldest);
	await ada.call('chat.delete', { channel: oldest, ts });
	expect(await pages(grace, { limit: 100 })).toEqual(byWalking);
}, 300_000);
