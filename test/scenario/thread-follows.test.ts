import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** What happens to followed threads when the conversation or the follower's membership changes. */

let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer();
	const { people } = await makeWorkspace(server.url, 2);
	[ada, grace] = people as [Person, Person];
});
afterAll(() => server.stop());

async function thread(name: string): Promise<{ channel: string; thread_ts: string }> {
	const { channel } = await ada.call('conversations.create', { name });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	const { ts } = await ada.call('chat.postMessage', { channel: channel.id, text: 'root' });
	return { channel: channel.id, thread_ts: ts };
}

test('subscribing with a last_read in the future does not read later replies', async () => {
	const place = await thread('future');
	await grace.call('subscriptions.thread.add', { ...place, last_read: '9999999999.000000' });
	await ada.call('chat.postMessage', { ...place, text: `<@${grace.id}> a reply` });
	expect(await grace.call('subscriptions.thread.get', place)).toMatchObject({
		unread_count: 1,
		mention_count: 1,
	});
});

test('threads of an archived conversation do not count, and count again when it is unarchived', async () => {
	const place = await thread('archived');
	await ada.call('chat.postMessage', { ...place, text: `<@${grace.id}> a reply` });
	await ada.call('conversations.archive', { channel: place.channel });
	expect(await grace.call('subscriptions.thread.get', place)).toMatchObject({ unread_count: 0 });
	await ada.call('conversations.unarchive', { channel: place.channel });
	expect(await grace.call('subscriptions.thread.get', place)).toMatchObject({ unread_count: 1 });
});

test('marking all read succeeds while threads are unfollowed and channels are left', async () => {
	const places = await Promise.all([1, 2, 3, 4, 5].map((number) => thread(`busy-${number}`)));
	for (const place of places) await ada.call('chat.postMessage', { ...place, text: `<@${grace.id}>` });
	const leaving = places.map((place, index) =>
		index % 2 === 0
			? grace.call('subscriptions.thread.remove', place)
			: grace.call('conversations.leave', { channel: place.channel }),
	);
	const marking = Array.from({ length: 5 }, () => grace.call('client.markAllRead'));
	await Promise.all([...leaving, ...marking]);
	expect((await grace.call('client.counts')).threads).toMatchObject({ unread_count: 0 });
});

test('users who name themselves in an edit of their reply do not follow the thread again', async () => {
	const place = await thread('self-named');
	const { ts } = await grace.call('chat.postMessage', { ...place, text: 'a reply' });
	await grace.call('subscriptions.thread.remove', place);
	const edit = (text: string) => grace.call('chat.update', { channel: place.channel, ts, text });
	await edit(`a reply by <@${grace.id}>`);
	expect(await grace.call('subscriptions.thread.get', place)).toMatchObject({
		subscription: { active: false },
	});
	// Other named users still follow.
	await ada.call('subscriptions.thread.remove', place);
	await edit(`a reply by <@${grace.id}> to <@${ada.id}>`);
	expect(await ada.call('subscriptions.thread.get', place)).toMatchObject({ subscription: { active: true } });
});

test('unfollowing ignores last_read, even a value that is not a ts', async () => {
	const place = await thread('unfollowed');
	await grace.call('chat.postMessage', { ...place, text: 'a reply' });
	await grace.call('subscriptions.thread.remove', { ...place, last_read: 'yesterday' });
	expect(await grace.call('subscriptions.thread.get', place)).toMatchObject({
		subscription: { active: false },
	});
});
