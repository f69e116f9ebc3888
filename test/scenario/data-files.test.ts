import { expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { existsSync } from 'node:fs';
import {
	chmod,
	type FileHandle,
	mkdir,
	open,
	readdir,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { secureFiles, writeSecret } from '../../src/app/private-files.ts';
import { rawClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { testServerProcess, tidemark, withDirectory } from '../support/process.ts';

/** The data directory of a running server: who can read it, and what happens if it is damaged. */

setDefaultTimeout(60_000);
const PATIENCE_MS = 20_000;

const openToOthers = async (directory: string): Promise<string[]> => {
	const names = (await readdir(directory)).sort();
	const modes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).mode));
	return names.filter((_, index) => ((modes[index] as number) & 0o077) !== 0);
};

const serve = (directory: string) =>
	tidemark(['serve', '--demo', '--port', '0', '--host', '127.0.0.1', '--data-dir', directory], {
		TIDEMARK_LOG_LEVEL: 'warn',
	});

test('all files are readable only by their owner, including those that an earlier version left open', async () => {
	await withDirectory(async (parent) => {
		const directory = join(parent, 'data');
		const server = serve(directory);
		await server.printed(/Two devices/);
		expect((await stat(directory)).mode & 0o777).toBe(0o700);
		expect(await readdir(directory)).toContain('demo.json');
		expect(await openToOthers(directory)).toEqual([]);
		await server.end('SIGTERM');
		for (const name of ['tidemark.db', 'lock.db', 'admin-token']) await chmod(join(directory, name), 0o644);
		const again = serve(directory);
		await again.printed(/Two devices/);
		expect(await openToOthers(directory)).toEqual([]);
		expect((await again.end('SIGTERM')).err).not.toContain('open to other users');

		await chmod(directory, 0o755);
		await chmod(join(directory, 'tidemark.db'), 0o644);
		const warned = serve(directory);
		await warned.printed(/Two devices/);
		const { err } = await warned.end('SIGTERM');
		expect(err).toContain(`chmod go= ${directory}`);
		expect(err).toContain(`chmod go= ${join(directory, 'tidemark.db')}`);
		expect((await stat(join(directory, 'tidemark.db'))).mode & 0o777).toBe(0o644);
	});
});

test('directories and the targets of links stay as they are', async () => {
	await withDirectory(async (parent) => {
		const [directory, outside] = [join(parent, 'data'), join(parent, 'outside')];
		await mkdir(join(directory, 'inside'), { recursive: true });
		await chmod(directory, 0o700);
		for (const file of [outside, join(directory, 'file')]) await writeFile(file, '');
		await symlink(outside, join(directory, 'link'));
		const modes: readonly [string, number, number][] = [
			[outside, 0o644, 0o644],
			[join(directory, 'inside'), 0o755, 0o755],
			[join(directory, 'file'), 0o644, 0o600],
		];
		for (const [path, before] of modes) await chmod(path, before);
		expect(await secureFiles(directory)).toEqual([]);
		for (const [path, , after] of modes) expect((await stat(path)).mode & 0o777).toBe(after);
	});
});

test('a new secret replaces the old one, readable only by its owner', async () => {
	await withDirectory(async (directory) => {
		const file = join(directory, 'key');
		for (const text of ['first', 'second']) await writeSecret(file, text);
		expect(await Bun.file(file).text()).toBe('second');
		expect((await stat(file)).mode & 0o777).toBe(0o600);
		expect(await readdir(directory)).toEqual(['key']);
	});
});

test('a secret is on disk before it gets its name, and its name is on disk before it is used', async () => {
	await withDirectory(async (directory) => {
		const path = join(directory, 'key');
		const any = await open(directory, 'r');
		const hadItsName: boolean[] = [];
		const sync = spyOn(Object.getPrototypeOf(any), 'sync');
		const synced = sync.getMockImplementation();
		sync.mockImplementation(async function (this: FileHandle) {
			hadItsName.push(existsSync(path));
			await (synced as (this: FileHandle) => Promise<void>).call(this);
		});
		try {
			await writeSecret(path, 'secret');
		} finally {
			sync.mockRestore();
			await any.close();
		}
		expect(hadItsName).toEqual([false, true]);
	});
});

const harms: [string, (directory: string) => Promise<void>][] = [
	['deleted', (directory) => rm(directory, { recursive: true })],
	['with a database of 0 bytes', (directory) => truncate(join(directory, 'tidemark.db'), 0)],
	['without its lock', (directory) => rm(join(directory, 'lock.db'))],
];
for (const [what, harm] of harms) {
	test(`a data directory ${what} under a running server is reported in /readyz, and posts are rejected`, async () => {
		await withDirectory(async (parent) => {
			const directory = join(parent, 'data');
			const server = await testServerProcess(directory);
			const { people } = await makeWorkspace(server.url, 1);
			const [ada] = people as [Person];
			const { channel } = await ada.call('conversations.create', { name: 'quay' });
			await ada.call('chat.postMessage', { channel: channel.id, text: 'before' });
			await harm(directory);
			await eventually(async () => {
				const { degraded } = (await (await fetch(`${server.url}/readyz`)).json()) as { degraded: string[] };
				expect(degraded.join()).toMatch(/store.*while the server is running/);
			}, PATIENCE_MS);
			const post = rawClient(server.url, ada.token)('chat.postMessage', {
				channel: channel.id,
				text: 'after',
			});
			expect(await post).toMatchObject({ ok: false, error: 'service_unavailable' });
			await server.end('SIGTERM');
		});
	});
}
