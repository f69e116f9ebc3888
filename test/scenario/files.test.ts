import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ANY_ORIGIN } from '../../src/protocol/addresses.ts';
import { rawClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';
import { download, reserved, shared, uploaded } from '../support/uploads.ts';

/** Files: uploading, sharing, reading and deleting them, over HTTP and sockets. */

let server: TestServer;
let ada: Person;
let grace: Person;
let outsider: Person;
let foreigner: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
	const workspace = await makeWorkspace(server.url, 3, 'Files');
	[ada, grace, outsider] = workspace.people as [Person, Person, Person];
	[foreigner] = (await makeWorkspace(server.url, 1, 'Elsewhere')).people as [Person];
	channel = (await ada.call('conversations.create', { name: 'filing', is_private: true })).channel.id;
	await ada.call('conversations.invite', { channel, users: grace.id });
});
afterAll(() => server.stop());

const PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);
const latest = async (person: Person, where = channel) =>
	(await person.call('conversations.history', { channel: where, limit: 1 })).messages[0];
const unread = async (person: Person): Promise<number> =>
	(await person.call('conversations.info', { channel })).channel.unread_count;

test('a picture is uploaded, shared with a message, announced and read', async () => {
	const socket = await connect(grace);
	const before = await unread(grace);
	const file = await shared(ada, 'Tide table.png', PIXEL, {
		channel_id: channel,
		initial_comment: 'The <b>tides</b>',
	});
	expect(file).toMatchObject({
		name: 'Tide table.png',
		title: 'Tide table.png',
		mimetype: 'image/png',
		filetype: 'png',
		user: ada.id,
		size: PIXEL.length,
		mode: 'hosted',
		is_public: false,
		original_w: 1,
		original_h: 1,
	});
	expect(file.url_private).toStartWith(`${new URL(file.url_private).origin}/files-pri/`);
	const message = await latest(grace);
	expect(message).toMatchObject({
		subtype: 'file_share',
		user: ada.id,
		text: 'The <b>tides</b>',
		upload: false,
		files: [{ id: file.id, url_private: file.url_private }],
	});
	expect(await socket.seen({ type: 'message', subtype: 'file_share' })).toMatchObject({
		channel,
		ts: message.ts,
		files: [{ id: file.id, url_private: file.url_private }],
	});
	expect(await socket.seen({ type: 'file_shared' })).toMatchObject({
		channel_id: channel,
		file_id: file.id,
		user_id: ada.id,
		file: { id: file.id },
	});
	socket.close();
	expect(await unread(grace)).toBe(before + 1);
	for (const person of [ada, grace]) {
		const response = await download(file.url_private, person);
		expect(response.status).toBe(200);
		expect(Buffer.from(await response.arrayBuffer()).equals(PIXEL)).toBe(true);
		expect(response.headers.get('content-type')).toBe('image/png');
		expect(response.headers.get('content-disposition')).toStartWith('inline; filename="Tide table.png"');
		expect(response.headers.get('x-content-type-options')).toBe('nosniff');
	}
	const info = await grace.call('files.info', { file: file.id });
	expect(info.file).toMatchObject({
		id: file.id,
		groups: [channel],
		shares: { private: { [channel]: [{ ts: message.ts, channel_name: 'filing' }] } },
	});
	// Texts are indexed a moment after the post.
	const search = () => ada.call('search.messages', { query: 'has:file tides' });
	await eventually(async () => expect((await search()).messages.total).toBe(1), 30_000);
});

test('only users who may read a conversation with the file can read the file', async () => {
	const file = await shared(ada, 'secret.txt', 'for the two of us', { channel_id: channel });
	expect((await download(file.url_private, null)).status).toBe(401);
	expect((await download(file.url_private, { token: 'xoxp-nobody' })).status).toBe(401);
	for (const person of [outsider, foreigner]) {
		expect((await download(file.url_private, person)).status).toBe(404);
		await expect(person.call('files.info', { file: file.id })).rejects.toThrow('file_not_found');
		await expect(person.call('files.delete', { file: file.id })).rejects.toThrow('file_not_found');
		expect((await person.call('files.getLinks', { files: file.id })).links).toEqual([]);
		expect((await person.call('files.list')).files).toEqual([]);
	}
	await expect(grace.call('files.delete', { file: file.id })).rejects.toThrow('cant_delete_file');
	await ada.call('conversations.invite', { channel, users: outsider.id });
	expect(await (await download(file.url_private, outsider)).text()).toBe('for the two of us');
	await ada.call('conversations.kick', { channel, user: outsider.id });
	expect((await download(file.url_private, outsider)).status).toBe(404);
	const alone = await shared(ada, 'mine.txt', 'mine');
	expect((await download(alone.url_private, ada)).status).toBe(200);
	expect((await download(alone.url_private, grace)).status).toBe(404);
});

test('a link from getLinks works without a token, for a while', async () => {
	const file = await shared(ada, 'linked.txt', 'linked', { channel_id: channel });
	const other = await shared(ada, 'other.txt', 'other', { channel_id: channel });
	const { links } = await grace.call('files.getLinks', { files: [file.id, other.id, 'F00000000'] });
	expect(links.map(({ id }: { id: string }) => id)).toEqual([file.id, other.id]);
	const [link] = links;
	expect(await (await download(link.url, null)).text()).toBe('linked');
	const saved = await download(link.download_url, null);
	expect(saved.headers.get('content-disposition')).toStartWith('attachment;');
	const forged = [
		link.url.replace(file.id, other.id),
		link.url.replace(grace.id, ada.id),
		link.url.replace(/expires=\d+/, `expires=${link.expires + 60}`),
		link.url.slice(0, -1),
	];
	for (const url of forged) expect((await download(url, null)).status).toBe(401);
	await ada.call('conversations.kick', { channel, user: grace.id });
	expect((await download(link.url, null)).status).toBe(404);
	await ada.call('conversations.invite', { channel, users: grace.id });
});

test('ranges, validators and HEAD work', async () => {
	const { url_private: url } = await shared(ada, 'digits.txt', '0123456789');
	const part = async (range: string) => {
		const response = await download(url, ada, { range });
		return [response.status, response.headers.get('content-range'), await response.text()];
	};
	expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
	expect(await part('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789']);
	expect(await part('bytes=-2')).toEqual([206, 'bytes 8-9/10', '89']);
	expect(await part('bytes=10-')).toEqual([416, 'bytes */10', '']);
	expect(await part('bytes=0-1,3-4')).toEqual([200, null, '0123456789']);
	const whole = await download(url, ada);
	const etag = whole.headers.get('etag') ?? '';
	expect((await download(url, ada, { 'if-none-match': etag })).status).toBe(304);
	expect((await download(url, ada, { range: 'bytes=2-4', 'if-range': '"other"' })).status).toBe(200);
	const head = await download(url, ada, {}, 'HEAD');
	expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
});

test('scripts in an uploaded page or drawing do not run', async () => {
	for (const name of ['page.html', 'drawing.svg', 'page.xhtml', 'feed.xml', 'x.pdf']) {
		const file = await shared(ada, name, '<script>alert(1)</script>');
		const { headers } = await download(file.url_private, ada);
		expect(headers.get('content-type')).toBe('application/octet-stream');
		expect(headers.get('content-disposition')).toStartWith('attachment;');
		expect(headers.get('content-security-policy')).toContain('sandbox');
		expect(headers.get('x-content-type-options')).toBe('nosniff');
	}
	const odd = await shared(ada, '../ä"b;\r\nx: y%.txt', 'odd');
	const disposition = (await download(odd.url_private_download, ada)).headers.get('content-disposition');
	expect(disposition).toMatch(/^attachment; filename="[\w. :-]+"; filename\*=UTF-8''[\w.%-]+$/);
});

test('forms, PUT and bodies without a length are accepted', async () => {
	const content = 'x'.repeat(200_000);
	const form = new FormData();
	form.append('ignored', 'y'.repeat(1000));
	form.append('body', new Blob([content]), 'any name');
	const streamed = new ReadableStream({
		start(controller) {
			for (let start = 0; start < content.length; start += 50_000)
				controller.enqueue(new TextEncoder().encode(content.slice(start, start + 50_000)));
			controller.close();
		},
	});
	const sent: RequestInit[] = [
		{ method: 'POST', body: form },
		{ method: 'PUT', body: content },
		{ method: 'POST', body: streamed },
	];
	for (const init of sent) {
		const { id, url } = await reserved(ada, 'large.txt', content.length);
		const response = await fetch(url, init);
		expect([response.status, await response.text()]).toEqual([200, `OK - ${content.length}\n`]);
		const { files } = await ada.call('files.completeUploadExternal', { files: [{ id, title: 'Large' }] });
		expect(files[0].title).toBe('Large');
		expect(await (await download(files[0].url_private, ada)).text()).toBe(content);
	}
});

test('a bad upload changes nothing', async () => {
	const { id, url } = await reserved(ada, 'five.txt', 5);
	const complete = () => ada.call('files.completeUploadExternal', { files: [{ id }], channel_id: channel });
	await expect(complete()).rejects.toThrow('file_not_found');
	const noFile = new FormData();
	noFile.append('text', '12345');
	const rejected: [RequestInit, number][] = [
		[{ method: 'POST', body: '1234' }, 400],
		[{ method: 'POST', body: '123456' }, 413],
		[{ method: 'POST' }, 400],
		[{ method: 'POST', body: noFile }, 400],
		[{ method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data' } }, 400],
		[
			{
				method: 'POST',
				body: '--b\r\n\r\n12345',
				headers: { 'content-type': 'multipart/form-data; boundary=b' },
			},
			400,
		],
		[{ method: 'GET' }, 405],
	];
	for (const [init, status] of rejected) expect((await fetch(url, init)).status).toBe(status);
	expect((await fetch(`${url}x`, { method: 'POST', body: '12345' })).status).toBe(404);
	await expect(complete()).rejects.toThrow('file_not_found');
	expect((await fetch(url, { method: 'POST', body: '12345' })).status).toBe(200);
	await expect(grace.call('files.completeUploadExternal', { files: [{ id }] })).rejects.toThrow(
		'file_not_found',
	);
	const newest = (await latest(ada)).ts;
	const bad: [Record<string, unknown>, string][] = [
		[{ files: [{ id }, { id: 'F0000000' }] }, 'file_not_found'],
		[{ files: [{ id }], channel_id: 'C0000000' }, 'channel_not_found'],
		[{ files: [{ id }], channel_id: channel, thread_ts: '1000000000.000001' }, 'thread_not_found'],
		[{ files: [{ id }], thread_ts: newest }, 'invalid_arguments'],
		[{ files: [] }, 'invalid_arguments'],
		[{ files: 'x' }, 'invalid_arguments'],
		[{ files: [{ id }], channel_id: channel, blocks: 'x' }, 'invalid_blocks_format'],
	];
	for (const [args, error] of bad)
		await expect(ada.call('files.completeUploadExternal', args)).rejects.toThrow(error);
	expect((await latest(ada)).ts).toBe(newest);
	expect((await complete()).files[0].id).toBe(id);
	expect((await fetch(url, { method: 'POST', body: '54321' })).status).toBe(410);
});

test('a repeated completion shares the files once', async () => {
	const { id } = await uploaded(ada, 'once.txt', 'once');
	const complete = () => ada.call('files.completeUploadExternal', { files: [{ id }], channel_id: channel });
	await Promise.all([complete(), complete(), complete()]);
	const { messages } = await ada.call('conversations.history', { channel, limit: 20 });
	const holds = ({ files = [] }: { files?: { id: string }[] }) => files.some((file) => file.id === id);
	expect(messages.filter(holds)).toHaveLength(1);
	await expect(ada.call('files.completeUploadExternal', { files: [{ id }] })).rejects.toThrow(
		'file_not_found',
	);
});

test('several files can be shared in one message, in a thread, and in several channels', async () => {
	const root = (await ada.call('chat.postMessage', { channel, text: 'root' })).ts;
	const files = [await uploaded(ada, 'a.txt', 'a'), await uploaded(ada, 'b.txt', 'b')].map(({ id }) => ({
		id,
	}));
	await ada.call('files.completeUploadExternal', { files, channel_id: channel, thread_ts: root });
	const { messages } = await grace.call('conversations.replies', { channel, ts: root });
	expect(messages[1]).toMatchObject({ thread_ts: root, files });
	const other = (await ada.call('conversations.create', { name: 'open-files' })).channel.id;
	const { id } = await uploaded(ada, 'both.txt', 'both');
	await ada.call('files.completeUploadExternal', { files: [{ id }], channels: `${channel},${other}` });
	for (const where of [channel, other]) expect((await latest(ada, where)).files[0].id).toBe(id);
	const { file } = await outsider.call('files.info', { file: id });
	expect(file).toMatchObject({ is_public: true, channels: [other], groups: [] });
	const listed = await grace.call('files.list', { channel, types: 'snippets', count: 2 });
	expect(listed.files).toHaveLength(2);
	expect(listed.paging).toMatchObject({ count: 2, page: 1 });
	const latestTime = '999999999999999';
	expect((await grace.call('files.list', { ts_from: latestTime })).files).toEqual([]);
	const untilThen = await grace.call('files.list', { channel, ts_to: latestTime, count: 2 });
	expect(untilThen.files.length).toBe(2);
});

test('an edit keeps the files; deleting the message leaves them to their owner', async () => {
	const file = await shared(ada, 'kept.txt', 'kept', { channel_id: channel, initial_comment: 'before' });
	const { ts } = await latest(ada);
	await ada.call('chat.update', { channel, ts, text: 'after' });
	expect(await latest(grace)).toMatchObject({
		text: 'after',
		subtype: 'file_share',
		files: [{ id: file.id }],
	});
	await ada.call('chat.delete', { channel, ts });
	expect((await download(file.url_private, ada)).status).toBe(200);
	expect((await download(file.url_private, grace)).status).toBe(404);
});

test('a deleted file leaves a tombstone in its messages', async () => {
	const file = await shared(ada, 'gone.txt', 'gone', { channel_id: channel });
	const { ts } = await latest(ada);
	const before = await unread(grace);
	const socket = await connect(grace);
	await ada.call('files.delete', { file: file.id });
	expect(await socket.seen({ type: 'file_deleted' })).toMatchObject({
		file_id: file.id,
		channel_ids: [channel],
	});
	expect(await socket.seen({ subtype: 'message_changed' })).toMatchObject({
		message: { ts, files: [{ id: file.id, mode: 'tombstone' }] },
	});
	socket.close();
	const message = await latest(grace);
	expect(message.files).toMatchObject([{ id: file.id, mode: 'tombstone' }]);
	expect(message.edited).toBeUndefined();
	expect(await unread(grace)).toBe(before);
	for (const person of [ada, grace]) expect((await download(file.url_private, person)).status).toBe(404);
	await expect(ada.call('files.info', { file: file.id })).rejects.toThrow('file_deleted');
	await expect(grace.call('files.info', { file: file.id })).rejects.toThrow('file_not_found');
	await expect(ada.call('files.delete', { file: file.id })).rejects.toThrow('file_deleted');
});

test('a device that was offline gets shared and deleted files', async () => {
	const old = await shared(ada, 'old.txt', 'old', { channel_id: channel });
	const { position } = await grace.call('client.counts');
	const file = await shared(ada, 'new.txt', 'new', { channel_id: channel });
	await ada.call('files.delete', { file: old.id });
	const { events } = await grace.call('client.sync', { since: position });
	const fileEvents = events.filter(({ type }: { type: string }) => type.startsWith('file_'));
	// A cluster may repeat the events of files that were shared shortly before.
	expect(fileEvents).toContainEqual(expect.objectContaining({ type: 'file_shared', file_id: file.id }));
	expect(fileEvents).toContainEqual(expect.objectContaining({ type: 'file_deleted', file_id: old.id }));
	expect(JSON.stringify(events)).not.toContain(ANY_ORIGIN);
	expect(JSON.stringify(events)).toContain(file.url_private);
});

test('file addresses use the reader’s host, not the author’s', async () => {
	const { id, url } = await reserved(ada, 'host.txt', 4);
	await fetch(url, { method: 'POST', body: 'host' });
	const asked = await fetch(`${server.url}/api/files.completeUploadExternal`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${ada.token}`,
			'content-type': 'application/json',
			host: 'evil.example',
			'x-forwarded-proto': 'https',
		},
		body: JSON.stringify({ files: [{ id }], channel_id: channel }),
	});
	const answer = (await asked.json()) as { files: { url_private: string }[] };
	expect(answer.files[0]?.url_private).toStartWith('https://evil.example/');
	expect(JSON.stringify(await latest(grace))).not.toContain('evil');
});

test('the retired method says what to call instead', async () => {
	const answer = await rawClient(server.url, ada.token)('files.upload', { content: 'x' });
	expect(answer.error).toBe('method_deprecated');
	expect(answer.response_metadata.messages[0]).toContain('files.getUploadURLExternal');
});
