import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startEmbedded, type TestServer } from '../support/server.ts';
import { download, reserved, shared, uploaded } from '../support/uploads.ts';

/** The size limits of files, and what remains of unfinished uploads. */

const MB = 1024 * 1024;
let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startEmbedded({ 'file-max-mb': '1', 'team-files-mb': '2' });
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
});
afterAll(() => server.stop());

const filesOnDisk = async (): Promise<number> => {
	const entries = await readdir(join(server.dataDir, 'files'), { recursive: true, withFileTypes: true });
	return entries.filter((entry) => entry.isFile()).length;
};

test('a file, a workspace and a user have a size limit; deleting frees space', async () => {
	await expect(reserved(ada, 'a.bin', MB + 1)).rejects.toThrow('file_too_large');
	await expect(reserved(ada, 'a.bin', 0)).rejects.toThrow('invalid_arguments');
	const file = await shared(ada, 'a.bin', Buffer.alloc(MB, 'a'));
	await reserved(grace, 'b.bin', MB);
	await expect(reserved(grace, 'c.bin', 1)).rejects.toThrow('storage_limit_reached');
	expect(await filesOnDisk()).toBe(1);
	await ada.call('files.delete', { file: file.id });
	expect(await filesOnDisk()).toBe(0);
	for (let count = 0; count < 100; count += 1) await reserved(ada, 'c.bin', 1);
	await expect(reserved(ada, 'd.bin', 1)).rejects.toThrow('storage_limit_reached');
	await reserved(grace, 'd.bin', 1);
});

test('an interrupted upload leaves nothing, and can be sent again', async () => {
	const { id, url } = await reserved(grace, 'cut.txt', 10);
	const abort = new AbortController();
	const cut = new ReadableStream({
		start(controller) {
			controller.enqueue(new TextEncoder().encode('01234'));
			setTimeout(() => abort.abort(), 50);
		},
	});
	await fetch(url, { method: 'POST', body: cut, signal: abort.signal }).catch(() => undefined);
	expect((await fetch(url, { method: 'POST', body: '0123456789' })).status).toBe(200);
	expect((await fetch(url, { method: 'PUT', body: '9876543210' })).status).toBe(200);
	const { files } = await grace.call('files.completeUploadExternal', { files: [{ id }] });
	expect(await (await download(files[0].url_private, grace)).text()).toBe('9876543210');
	expect(await filesOnDisk()).toBe(1);
});

test('a file survives a restart', async () => {
	const file = await shared(grace, 'kept.txt', 'kept');
	await uploaded(grace, 'open.txt', 'open');
	await server.restart();
	expect(await (await download(file.url_private, grace)).text()).toBe('kept');
});
