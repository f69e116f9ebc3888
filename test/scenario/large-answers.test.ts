import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Answer } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { patienceMs, startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** No answer is larger than 4 MB, unless a single message is: messages that do not fit are on the next page. */

const MAX_BYTES = 4_000_000;
/** Maximum bytes of an answer without its messages. */
const ENVELOPE = 100_000;
/** Each character takes six in JSON: 240 KB per message. */
const LARGE = '\u0007'.repeat(40_000);
const MESSAGES = 40;

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;
let root: string;
const posted: string[] = [];
const replies: string[] = [];

beforeAll(async () => {
	server = await startServer();
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	channel = (await ada.call('conversations.create', { name: 'large' })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
	root = (await grace.call('chat.postMessage', { channel, text: LARGE })).ts;
	for (let index = 0; index < MESSAGES; index += 1)
		posted.push(
			(await ada.call('chat.postMessage', { channel, text: `<@${grace.id}> ${LARGE}`.slice(0, 40_000) })).ts,
		);
	for (let index = 0; index < MESSAGES; index += 1) {
		const text = `${index} ${LARGE}`.slice(0, 40_000);
		replies.push((await ada.call('chat.postMessage', { channel, thread_ts: root, text })).ts);
	}
}, 300_000);
afterAll(() => server.stop());

/** Returns the answer after checking its size. */
async function bounded(person: Person, method: string, args: Record<string, string>): Promise<Answer> {
	const response = await fetch(`${server.url}/api/${method}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${person.token}` },
		body: new URLSearchParams(args),
	});
	const text = await response.text();
	expect({ method, large: text.length > MAX_BYTES + ENVELOPE ? text.length : 0 }).toEqual({
		method,
		large: 0,
	});
	const answer = JSON.parse(text);
	expect(answer).toMatchObject({ ok: true });
	return answer;
}

/** All pages, and their number. */
async function pages(person: Person, method: string, args: Record<string, string>) {
	const all: string[][] = [];
	for (let cursor = ''; ; ) {
		const page = await bounded(person, method, {
			...args,
			limit: '999',
			...(cursor === '' ? {} : { cursor }),
		});
		all.push(page.messages.map(({ ts }: { ts: string }) => ts));
		cursor = page.response_metadata.next_cursor;
		expect(page.has_more).toBe(cursor !== '');
		if (cursor === '') return all;
	}
}

test('conversations.history is cut, from either end', async () => {
	const newest = await pages(ada, 'conversations.history', { channel });
	expect(newest.length).toBeGreaterThan(2);
	expect(newest.flat()).toEqual([root, ...posted].toReversed());
	const oldest = await pages(ada, 'conversations.history', { channel, oldest: '1.000000' });
	expect(oldest.length).toBeGreaterThan(2);
	expect(oldest.flatMap((page) => page.toReversed())).toEqual([root, ...posted]);
}, 60_000);

test('conversations.replies is cut', async () => {
	const all = await pages(ada, 'conversations.replies', { channel, ts: root });
	expect(all.length).toBeGreaterThan(2);
	expect(all.flat()).toEqual([root, ...replies]);
}, 60_000);

test('conversations.unreads is cut, in either order', async () => {
	for (const newestFirst of [false, true]) {
		const all = await pages(grace, 'conversations.unreads', {
			channel,
			...(newestFirst ? { newest_first: 'true' } : {}),
		});
		expect(all.length).toBeGreaterThan(2);
		expect(all.flat()).toEqual(newestFirst ? posted.toReversed() : posted);
	}
}, 60_000);

test('client.explain returns the newest messages that fit', async () => {
	const { items, has_more, badge } = await bounded(grace, 'client.explain', {});
	expect({ has_more, badge }).toEqual({ has_more: true, badge: MESSAGES });
	const shown = items.map(({ ts }: { ts: string }) => ts);
	expect(shown.length).toBeGreaterThan(5);
	expect(shown).toEqual(posted.slice(-shown.length));
}, 60_000);

test('pins.list returns the newest messages that fit, and says that there are more', async () => {
	const pinned = posted.slice(0, 20);
	const pin = (timestamp: string) => ada.call('pins.add', { channel, timestamp });
	for (const ts of pinned.slice(0, 2)) await pin(ts);
	expect(await bounded(ada, 'pins.list', { channel })).toMatchObject({
		items: [{}, {}],
		has_more: false,
	});
	for (const ts of pinned.slice(2)) await pin(ts);
	const { items, has_more } = await bounded(ada, 'pins.list', { channel });
	const shown = items.map(({ message }: { message: { ts: string } }) => message.ts);
	expect(shown.length).toBeGreaterThan(5);
	expect(shown).toEqual(pinned.slice(-shown.length).toReversed());
	expect(has_more).toBe(true);
}, 60_000);

test('subscriptions.thread.getView returns fewer unread replies, then fewer threads', async () => {
	const { threads } = await bounded(grace, 'subscriptions.thread.getView', { limit: '999' });
	expect(threads).toHaveLength(1);
	expect(threads[0]).toMatchObject({ unread_count: MESSAGES });
	const shown = threads[0].unread_replies.map(({ ts }: { ts: string }) => ts);
	expect(shown.length).toBeGreaterThan(0);
	expect(shown).toEqual(replies.slice(0, shown.length));
}, 60_000);

test('inbox.list returns the beginning of the newest message', async () => {
	const { items } = await bounded(grace, 'inbox.list', {});
	expect(items).toHaveLength(1);
	expect(items[0].latest.ts).toBe(posted.at(-1));
	expect(items[0].latest.text.length).toBeLessThanOrEqual(200);
});

test('a client that missed more than fits has to reload everything', async () => {
	const since = '0000000000000001';
	expect(await bounded(grace, 'client.sync', { since })).toMatchObject({ history_invalid: true });
	const socket = await connect(grace, { since });
	await socket.seen({ type: 'resync', reason: 'too_far_behind' });
	socket.close();
});

test('a client that missed less than the limit gets all of it', async () => {
	// Separate users, because a cluster also reads changes from a few seconds before a position.
	const [mia, tom] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	const pier = (await mia.call('conversations.create', { name: 'pier' })).channel.id;
	await mia.call('conversations.invite', { channel: pier, users: tom.id });
	const { position } = await bounded(tom, 'client.counts', {});
	const sent: string[] = [];
	for (let index = 0; index < 12; index += 1)
		sent.push((await mia.call('chat.postMessage', { channel: pier, text: LARGE })).ts);
	await eventually(async () => {
		const { events } = await bounded(tom, 'client.sync', { since: position });
		const texts = events.flatMap((event: Answer) =>
			event.type === 'message' && sent.includes(event.ts) ? [event.ts] : [],
		);
		expect(texts).toEqual(sent);
	}, patienceMs());
}, 60_000);
