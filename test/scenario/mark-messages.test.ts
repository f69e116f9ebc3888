import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { makeSharedChannel } from '../support/client/shared-channel.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** One call marks several messages, and none between them. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage() {
	const { reader, writer, channel, post } = await makeSharedChannel(server.url);
	const posted: string[] = [];
	for (let index = 0; index < 6; index += 1) posted.push(await post(`number ${index}`));
	const call = rawClient(server.url, reader.token);
	const mark = (ts: readonly string[] | string, more: object = {}) =>
		call('conversations.markMessage', { channel, ts, ...more });
	const unread = async () =>
		(await reader.call('conversations.unreads', { channel })).messages.map(({ ts }: { ts: string }) => ts);
	return { channel, writer, posted, call, mark, unread };
}

test('a list may be an array, or separated by commas', async () => {
	const { posted, mark, unread } = await stage();
	const [first, second, third, , fifth, last] = posted as [string, string, string, string, string, string];
	expect(await mark([third, fifth])).toMatchObject({ ok: true, unread_count: 4 });
	expect(await unread()).toEqual(posted.filter((ts) => ts !== third && ts !== fifth));
	// The cursor moves over messages in the ahead set.
	expect(await mark(`${first},${second}`)).toMatchObject({ unread_count: 2, last_read: third });
	expect(await mark(last)).toMatchObject({ unread_count: 1, last_read: third });
});

test('an outdated revision changes nothing', async () => {
	const { channel, posted, call, mark } = await stage();
	const { revision } = await call('conversations.markUnread', { channel, ts: posted[0] });
	const outdated = { revision: revision - 1 };
	expect(await mark(posted, outdated)).toMatchObject({ ok: true, ignored: true, unread_count: 6 });
	expect(await mark(posted, { revision })).toMatchObject({ ok: true, unread_count: 0 });
});

test('deleted messages are skipped; if all are deleted, the call is rejected', async () => {
	const { channel, writer, posted, mark } = await stage();
	const [first, second, third] = posted as [string, string, string];
	for (const ts of [first, second]) await writer.call('chat.delete', { channel, ts });
	expect(await mark([first, third])).toMatchObject({ ok: true, unread_count: 3 });
	expect(await mark([first, second])).toMatchObject({ ok: false, error: 'message_not_found' });
});

test('bad lists are rejected', async () => {
	const { posted, mark } = await stage();
	const many = Array.from({ length: 101 }, (_, index) => `17000000${String(index).padStart(2, '0')}.000000`);
	for (const list of [['yesterday'], [...posted, 'x'], many])
		expect(await mark(list)).toMatchObject({ ok: false, error: 'invalid_timestamp' });
});
