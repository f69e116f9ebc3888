import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** Answers and events about large amounts of data: bounded, and still right. */

let server: TestServer;
let workspace: Workspace;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer();
	workspace = await makeWorkspace(server.url, 2);
	[ada, grace] = workspace.people as [Person, Person];
});
afterAll(() => server.stop());

/** Makes this many calls, some of them at a time. */
async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
	let next = 0;
	const worker = async () => {
		while (next < count) {
			next += 1;
			await work(next);
		}
	};
	await Promise.all(Array.from({ length: 64 }, worker));
}

test('the explained badge equals the counted badge, also beyond 10,000', async () => {
	const { channel } = await ada.call('conversations.open', { users: grace.id });
	const other = (await ada.call('conversations.create', { name: 'other' })).channel.id;
	await ada.call('conversations.invite', { channel: other, users: grace.id });
	await ada.call('chat.postMessage', { channel: other, text: `<@${grace.id}>` });
	const root = await grace.call('chat.postMessage', { channel: other, text: 'root' });
	await ada.call('chat.postMessage', { channel: other, text: `<@${grace.id}>`, thread_ts: root.ts });
	const few = await grace.call('client.explain');
	expect(few).toMatchObject({ badge: 2, has_more: false });
	expect(few.items).toHaveLength(2);

	await times(10_005, (index) => ada.call('chat.postMessage', { channel: channel.id, text: `${index}` }));
	const counts = await grace.call('client.counts');
	expect(counts.badge).toBe(10_002);
	const all = await grace.call('client.explain');
	expect(all).toMatchObject({ badge: 10_002, has_more: true });
	expect(all.items).toHaveLength(1000);
	const stamps = all.items.map(({ ts }: { ts: string }) => ts);
	expect(stamps).toEqual(stamps.toSorted());
	const { messages } = await grace.call('conversations.history', { channel: channel.id, limit: 1 });
	expect(all.items.at(-1)).toMatchObject({ ts: messages[0].ts, text: messages[0].text, reasons: ['dm'] });
	expect((await grace.call('client.explain', { channel: channel.id })).badge).toBe(10_000);
	expect(await grace.call('client.explain', { channel: other })).toMatchObject({ badge: 2, has_more: false });

	const unreads = (args: object) => grace.call('conversations.unreads', { channel: channel.id, ...args });
	expect(await unreads({ limit: 1 })).toMatchObject({ total: 10_000, total_is_capped: true });
	const exact = await unreads({ limit: 1, oldest: stamps[0], inclusive: true });
	expect(exact.total).toBe(1000);
	expect(exact.total_is_capped).toBeUndefined();
}, 60_000);

test('unread replies are found behind any number of the user’s own', async () => {
	const channel = (await ada.call('conversations.create', { name: 'threads' })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
	const { ts } = await ada.call('chat.postMessage', { channel, text: 'root' });
	const first = await grace.call('chat.postMessage', { channel, text: 'first', thread_ts: ts });
	const view = async () => (await ada.call('subscriptions.thread.getView')).threads[0];
	await ada.call('subscriptions.thread.mark', { channel, thread_ts: ts, ts: first.ts });
	const own = async (index: number) =>
		ada.call('chat.postMessage', { channel, text: `own ${index}`, thread_ts: ts });
	for (let index = 0; index < 60; index += 1) await own(index);
	const unread = await grace.call('chat.postMessage', { channel, text: 'unread', thread_ts: ts });
	// A reply moves its author's cursor, so a mark unread is needed to get behind the user's own replies.
	await ada.call('subscriptions.thread.mark', { channel, thread_ts: ts, ts: first.ts, read: 0 });
	const shown = await view();
	expect(shown.unread_count).toBe(2);
	expect(shown.unread_replies.map((reply: { ts: string }) => reply.ts)).toEqual([first.ts, unread.ts]);
});

test('oldest=0 is the same as no oldest: the newest page comes first', async () => {
	const channel = (await ada.call('conversations.create', { name: 'history' })).channel.id;
	for (const text of ['one', 'two', 'three']) await ada.call('chat.postMessage', { channel, text });
	const page = (args: object) => ada.call('conversations.history', { channel, limit: 2, ...args });
	const plain = await page({});
	expect(plain.messages.map(({ text }: { text: string }) => text)).toEqual(['three', 'two']);
	for (const oldest of [0, '0', '0000000000.000000']) {
		expect(await page({ oldest })).toEqual(plain);
		const cursor = plain.response_metadata.next_cursor;
		const rest = await page({ oldest, cursor });
		expect(rest.messages.map(({ text }: { text: string }) => text)).toEqual(['one']);
	}
});

test('many joins at once cause one event for members, and each new member gets the channel', async () => {
	const users: string[] = [];
	for (let index = 0; index < 101; index += 1) {
		const named = { team_id: workspace.team, name: `many-${index}` };
		users.push((await workspace.admin('admin.users.create', named)).user.id);
	}
	const channel = (await ada.call('conversations.create', { name: 'crowd' })).channel.id;
	const [member, joining] = [await connect(ada), await connect(grace)];
	const add = (ids: readonly string[]) =>
		workspace.admin('admin.conversations.addMembers', { channel, users: ids.join(',') });
	await add([...users.slice(0, 100), grace.id]);
	const added = await member.seen({ type: 'channel_members_added' });
	expect(added).toMatchObject({ channel, count: 101, team: workspace.team });
	expect(added.users).toHaveLength(100);
	const { channel: joined } = await joining.seen({ type: 'channel_joined' });
	expect(joined).toMatchObject({
		id: channel,
		has_unreads: false,
		badge_count: 0,
		mention_count: 0,
		notification_level: 'all',
	});
	expect(member.having({ type: 'member_joined_channel' })).toHaveLength(0);
	await add(users.slice(100));
	expect(await member.seen({ type: 'member_joined_channel' })).toMatchObject({ channel, user: users[100] });
	member.close();
	joining.close();
}, 30_000);

test('a profile has every field that clients read', async () => {
	const { user } = await ada.call('users.info', { user: grace.id });
	expect(user.profile).toMatchObject({ email: '', image_24: '', image_48: '', image_72: '', image_512: '' });
});
