import { expect } from 'bun:test';
import type { Message, TidemarkClient } from '../../../client/src/index.ts';
import type { Person } from '../people.ts';
import { until } from './network.ts';
import { seen, served } from './shown.ts';

/** Compares the views of the SDK with the server's answers. */

export async function expectScreens(client: TidemarkClient, person: Person): Promise<void> {
	await client.settled();
	for (const [id, { latest, preview }] of client.getSnapshot().conversations) {
		// A conversation that was just added may still be loading.
		const { messages } = await until(client.conversation(id), ({ isLoaded }) => isLoaded);
		const answer = await person.call('conversations.history', { channel: id, limit: messages.length || 1 });
		expect(messages.map(seen)).toEqual(answer.messages.map(served).reverse());
		// The preview is the newest message; there is none if only tombstones are left.
		if (preview) expect(preview.ts).toBe(latest);
	}
	const { threads } = client.threads.getSnapshot();
	const view = await person.call('subscriptions.thread.getView', { limit: 10 });
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	const expected = view.threads.map((thread: any) => [
		thread.root_msg.ts,
		thread.unread_count,
		thread.mention_count,
	]);
	expect(threads.map((thread) => [thread.threadTs, thread.unreadCount, thread.mentionCount])).toEqual(
		expected,
	);
	for (const { channel, threadTs } of threads) await expectThread(client, person, channel, threadTs);
}

/** A thread is loaded when it is first watched; events keep it up to date afterwards. */
async function expectThread(
	client: TidemarkClient,
	person: Person,
	channel: string,
	ts: string,
): Promise<void> {
	const store = client.thread(channel, ts);
	await store.load();
	const { root, replies, isFollowing, unreadCount, mentionCount, lastRead } = store.getSnapshot();
	const answer = await person.call('conversations.replies', { channel, ts });
	expect([root, ...replies].map((message) => seen(message as Message))).toEqual(answer.messages.map(served));
	const followed = await person.call('subscriptions.thread.get', { channel, thread_ts: ts });
	expect({ isFollowing, unreadCount, mentionCount, lastRead }).toEqual({
		isFollowing: followed.subscription.active,
		unreadCount: followed.unread_count,
		mentionCount: followed.mention_count,
		lastRead: followed.subscription.last_read,
	});
}
