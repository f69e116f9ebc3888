import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** The event of a reply is as small as the reply, whatever the size of its root. */

const TEXT = `${'root '.repeat(7_000)}end`;
const BLOCKS = [{ type: 'section', text: { type: 'plain_text', text: 'b'.repeat(60_000) } }];
const MAX_BYTES = 2_000;

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	({
		channel: { id: channel },
	} = await ada.call('conversations.create', { name: 'long-reads' }));
	await ada.call('conversations.invite', { channel, users: grace.id });
});
afterAll(() => server.stop());

const post = async (args: Record<string, unknown>): Promise<string> =>
	(await ada.call('chat.postMessage', { channel, ...args })).ts;

const size = (frame: unknown): number => Buffer.byteLength(JSON.stringify(frame));

test('replies to a large root send ids, counters and a preview', async () => {
	const root = await post({ text: TEXT, blocks: JSON.stringify(BLOCKS) });
	const before = await grace.call('client.counts');
	const device = await connect(grace);
	const reply = await post({ text: 'a reply', thread_ts: root });
	const broadcast = await post({ text: 'to all', thread_ts: root, reply_broadcast: true });
	const [first, second] = await device.all(2, { subtype: 'message_replied' });
	expect(first?.message).toMatchObject({ ts: root, user: ada.id, thread_ts: root, reply_count: 1 });
	expect(second?.message).toMatchObject({ reply_count: 2, latest_reply: broadcast, reply_users: [ada.id] });
	expect(first?.message).toMatchObject({ is_preview: true, latest_reply: reply });
	expect(TEXT.startsWith(first?.message.text)).toBe(true);
	expect(first?.message.text.length).toBeGreaterThan(50);
	const shown = await device.seen({ subtype: 'thread_broadcast' });
	expect(shown.root).toMatchObject({ ts: root, is_preview: true, reply_count: 2 });
	for (const frame of [first, second, shown]) expect(size(frame)).toBeLessThan(MAX_BYTES);
	device.close();
	// A client that was disconnected gets the same.
	const { events } = await grace.call('client.sync', { since: before.position });
	expect(events.map(({ subtype }: { subtype?: string }) => subtype)).toEqual([
		undefined,
		'thread_broadcast',
		'message_replied',
	]);
	for (const event of events) expect(size(event)).toBeLessThan(MAX_BYTES);
	// Requests for the root return it whole.
	const { messages } = await grace.call('conversations.replies', { channel, ts: root });
	expect(messages[0]).toMatchObject({ text: TEXT, blocks: BLOCKS, reply_count: 2 });
	expect(messages[0].is_preview).toBeUndefined();
});

test('a short root is sent whole, and a surrogate pair is not cut in two', async () => {
	const device = await connect(grace);
	const short = await post({ text: 'short' });
	await post({ text: 'one', thread_ts: short });
	const event = await device.seen(({ message }) => message?.ts === short);
	expect(event.message).toMatchObject({ text: 'short', reply_count: 1 });
	expect(event.message.is_preview).toBeUndefined();
	const pairs = await post({ text: `x${'🌊'.repeat(300)}` });
	await post({ text: 'one', thread_ts: pairs });
	const { message } = await device.seen((frame) => frame.message?.ts === pairs);
	expect(message.text).toMatch(/^x🌊+$/u);
	expect(message.is_preview).toBe(true);
	device.close();
});
