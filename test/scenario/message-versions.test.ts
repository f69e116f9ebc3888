import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, type Frame } from '../support/socket.ts';

/**
 * Every event about a message carries a version, so that a client drops an event that is older than its state: the
 * larger of `position` and `edited.ts`, live and on resume.
 */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

const digits = (ts: string): string => ts.replace('.', '');

function versionOf({ position, edited, message }: Frame): string {
	expect(position).toMatch(/^\d{16}$/);
	const editedTs = digits((message ?? { edited }).edited?.ts ?? '');
	return editedTs > position ? editedTs : position;
}

test('a post, an edit, a reply, its deletion and the deletion of the root have rising versions', async () => {
	const [ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	const { channel } = await ada.call('conversations.create', { name: 'versions' });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	const socket = await connect(grace);
	const { position: since } = await grace.call('client.counts');
	const at = { channel: channel.id };
	const { ts } = await ada.call('chat.postMessage', { ...at, text: 'first' });
	await ada.call('chat.update', { ...at, ts, text: 'second' });
	const { ts: other } = await ada.call('chat.postMessage', { ...at, text: 'edited meanwhile' });
	await ada.call('chat.update', { ...at, ts: other, text: 'again' });
	const reply = await ada.call('chat.postMessage', { ...at, thread_ts: ts, text: 'reply' });
	await ada.call('chat.delete', { ...at, ts: reply.ts });
	await ada.call('chat.delete', { ...at, ts });
	await socket.seen({ subtype: 'message_deleted', deleted_ts: ts });
	const live = socket.having({ type: 'message' });
	const kinds = live.map(({ subtype }) => subtype ?? 'message');
	expect(kinds).toEqual([
		...['message', 'message_changed', 'message', 'message_changed', 'message', 'message_replied'],
		...['message_deleted', 'message_replied', 'message_deleted'],
	]);
	const versions = live.map(versionOf);
	expect(versions).toEqual([...versions].sort());
	socket.close();

	const { events } = await grace.call('client.sync', { since });
	const resumed = events.find((event: Frame) => event.type === 'message' && event.ts === other);
	const edit = live.find(({ subtype, message }) => subtype === 'message_changed' && message.ts === other);
	expect(resumed.text).toBe('again');
	// Sent as one `message` with the edited text: its version is that of the edit.
	expect(versionOf(resumed)).toBe(versionOf(edit as Frame));
});
