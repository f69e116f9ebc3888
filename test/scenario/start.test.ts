import { describe, expect, test } from 'bun:test';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { client, rawClient } from '../support/api.ts';
import { type Ended, serveProcess, tidemark, withDirectory } from '../support/process.ts';

/** `tidemark serve` as a person sees it: its output, its errors, its exit. */

const TOKEN = /Administrator's token, shown this once: (xoxa-\S+)/;
const onFreePort = (dataDir: string): string[] => ['serve', '--port', '0', '--data-dir', dataDir];

/** One line on standard error that names the cause and what to do, and nothing else. */
function expectRejection({ code, out, err }: Ended, ...parts: readonly RegExp[]): void {
	expect([code, out]).toEqual([1, '']);
	expect(err.trim().split('\n')).toHaveLength(1);
	for (const part of parts) expect(err).toMatch(part);
}

describe('a start', () => {
	test('the first start prints version, engine, address, directory and the administrator’s token', async () => {
		await withDirectory(async (directory) => {
			const dataDir = join(directory, 'not', 'yet', 'there');
			const server = await serveProcess(dataDir);
			const token = await server.printed(TOKEN);
			const [first = ''] = server.out().split('\n');
			expect(first).toBe(
				`Tidemark ${packageFile.version}, embedded engine, ${server.url}, data in ${dataDir}`,
			);
			const { team } = await client(server.url, token)('admin.teams.create', { name: 'First' });
			expect(team.id).toMatch(/^T/);
			expect((await stat(join(dataDir, 'admin-token'))).mode & 0o777).toBe(0o600);
			expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
			expect(await (await fetch(`${server.url}/readyz`)).json()).toMatchObject({ ok: true, degraded: [] });
		});
	});

	test('the second start does not print the token again, and the token still works', async () => {
		await withDirectory(async (directory) => {
			const first = await serveProcess(directory);
			const token = await first.printed(TOKEN);
			await first.end('SIGTERM');
			const second = await serveProcess(directory);
			expect((await client(second.url, token)('admin.teams.create', { name: 'Second' })).ok).toBe(true);
			const { out, err } = await second.end('SIGTERM');
			expect(out).not.toMatch(TOKEN);
			expect(out + err).not.toContain(token);
		});
	});

	test('a configured token is used, and neither printed nor stored', async () => {
		await withDirectory(async (directory) => {
			const token = 'chosen-by-the-operator';
			const server = await serveProcess(directory, ['--admin-token', token]);
			expect((await client(server.url, token)('admin.teams.create', { name: 'Mine' })).ok).toBe(true);
			const { out, err } = await server.end('SIGTERM');
			expect(out + err).not.toContain(token);
			expect(await Bun.file(join(directory, 'admin-token')).exists()).toBe(false);
		});
	});

	test('an IPv6 address is printed in brackets, and the address works', async () => {
		await withDirectory(async (directory) => {
			const server = tidemark([...onFreePort(directory), '--host', '::1', '--demo']);
			const url = await server.printed(/embedded engine, (\S+), data in/);
			expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
			expect(await server.printed(/^ {2}ada +U\w+ +xoxp-\S+\n +(http\S+)#token=/m)).toBe(`${url}/`);
			await server.printed(/on a terminal/);
			expect((await fetch(`${url}/readyz`)).status).toBe(200);
			expect((await server.end('SIGTERM')).code).toBe(0);
		});
	});

	test('if the first start fails, the next one prints the token', async () => {
		await withDirectory(async (directory) => {
			const failed = await tidemark([...onFreePort(directory), '--host', '192.0.2.1']).ended;
			expectRejection(failed, /192\.0\.2\.1 is not an address of this machine/, /--host/);
			const server = await serveProcess(directory);
			expect(await server.printed(TOKEN)).toMatch(/^xoxa-/);
		});
	});

	for (const signal of ['SIGTERM', 'SIGINT'] as const) {
		test(`${signal} ends the server with exit code 0, even while sockets are open, and the next start has everything`, async () => {
			await withDirectory(async (directory) => {
				const server = await serveProcess(directory, ['--demo']);
				const token = await server.printed(/ada .* (xoxp-\S+)/);
				const ada = client(server.url, token);
				const { channel } = await ada('conversations.create', { name: 'kept' });
				const socket = new WebSocket((await ada('rtm.connect')).url);
				const opened = Promise.withResolvers<void>();
				const closed = Promise.withResolvers<number>();
				socket.onmessage = () => opened.resolve();
				socket.onclose = ({ code }) => closed.resolve(code);
				await opened.promise;
				const posts = Array.from({ length: 20 }, (_, index) =>
					ada('chat.postMessage', { channel: channel.id, text: `message ${index}` }).then(
						({ ts }) => ts as string,
						() => null,
					),
				);
				await posts[0];
				expect(await server.end(signal)).toMatchObject({ code: 0, signal: null, err: '' });
				expect(await closed.promise).toBe(4000);
				const acknowledged = (await Promise.all(posts)).filter((ts) => ts !== null);
				const again = await serveProcess(directory);
				const history = await client(again.url, token)('conversations.history', { channel: channel.id });
				const found = history.messages.map(({ ts }: { ts: string }) => ts);
				expect(acknowledged.filter((ts) => !found.includes(ts))).toEqual([]);
			});
		});
	}
});

describe('--demo', () => {
	const printedUsers = (out: string) => [...out.matchAll(/^ {2}(\w+) +(U\w+) +(xoxp-\S+)$/gm)];

	test('prints tokens and links that work, and the same ones at the next start', async () => {
		await withDirectory(async (directory) => {
			const first = await serveProcess(directory, ['--demo']);
			await first.printed(/alan.*\n.*token=xoxp-\S+/);
			const users = printedUsers(first.out());
			expect(users.map(([, name]) => name)).toEqual(['ada', 'grace', 'linus', 'katherine', 'alan']);
			for (const [, name, id, token] of users) {
				const who = await client(first.url, token ?? '')('auth.test');
				expect([who.user, who.user_id, who.team]).toEqual([name, id, 'Harbour & Sons']);
			}
			const links = [...first.out().matchAll(/http\S+#token=(xoxp-[^\s&]+)/g)];
			expect(links.map(([, token]) => token)).toEqual([...users, users[0]].map((user) => user?.[3]));
			for (const [link] of links)
				expect((await fetch(link)).headers.get('content-type')).toStartWith('text/html');
			// The demo has something of everything: unread messages, mentions, a thread, direct messages, a muted and a read conversation.
			const counts = await client(first.url, links[0]?.[1] ?? '')('client.counts');
			expect(counts.threads.mention_count).toBeGreaterThan(0);
			const rows: Record<string, unknown>[] = [...counts.channels, ...counts.ims, ...counts.mpims];
			const having = (name: string) => rows.filter((row) => Boolean(row[name])).length;
			expect(having('mention_count')).toBeGreaterThan(1);
			expect(having('is_muted')).toBe(1);
			expect(having('has_unreads')).toBeGreaterThan(having('mention_count'));
			expect(rows.length).toBeGreaterThan(having('has_unreads'));
			expect([counts.channels, counts.ims, counts.mpims].map((part) => part.length > 0)).toEqual([
				true,
				true,
				true,
			]);
			await first.end('SIGTERM');

			const second = await serveProcess(directory, ['--demo']);
			await second.printed(/alan.*\n.*token=xoxp-\S+/);
			expect(printedUsers(second.out())).toEqual(users);
			const [, , , ada = ''] = users[0] ?? [];
			const { channels } = await client(second.url, ada)('conversations.list', {});
			const names: string[] = channels.map(({ name }: { name: string }) => name);
			// Created once, not at every start.
			expect([names.length, new Set(names).size]).toEqual([10, 10]);
		});
	});

	test('prints a new token for a user whose token was revoked, and none for a deactivated one', async () => {
		await withDirectory(async (directory) => {
			const first = await serveProcess(directory, ['--demo']);
			await first.printed(/alan.*\n.*token=xoxp-\S+/);
			const users = printedUsers(first.out());
			const [, , katherine = '', revoked = ''] = users.find(([, name]) => name === 'katherine') ?? [];
			await client(first.url, revoked)('auth.revoke');
			const to = ['--url', first.url, '--data-dir', directory];
			expect((await tidemark(['user', 'deactivate', 'linus', ...to]).ended).code).toBe(0);
			await first.printed(/or on a terminal {2}npx tidemark invite --url /);
			expect((await tidemark(['team', 'add', 'Pier', ...to]).ended).code).toBe(0);
			await first.end('SIGTERM');

			const second = await serveProcess(directory, ['--demo']);
			await second.printed(/alan.*\n.*token=xoxp-\S+/);
			// With a second workspace, the command has to name one.
			await second.printed(/or on a terminal {2}npx tidemark invite --team NAME --url /);
			const printed = printedUsers(second.out());
			expect(printed.map(([, name]) => name)).toEqual(['ada', 'grace', 'katherine', 'alan']);
			expect(second.out()).toMatch(/^ {2}linus +U\w+ +deactivated$/m);
			const [, , , token = ''] = printed.find(([, name]) => name === 'katherine') ?? [];
			expect(token).not.toBe(revoked);
			expect((await client(second.url, token)('auth.test')).user_id).toBe(katherine);
			await second.end('SIGTERM');
		});
	});
});

describe('a start that fails', () => {
	test('the port is taken: the error names it and says how to choose another', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(join(directory, 'one'));
			const { port } = new URL(server.url);
			const args = ['serve', '--host', '127.0.0.1', '--port', port, '--data-dir', join(directory, 'two')];
			const taken = new RegExp(`port ${port} is in use by another program, perhaps another Tidemark`);
			expectRejection(await tidemark(args).ended, taken, /--port/);
			expect(await readdir(directory)).toEqual(['one']);
			expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
		});
	});

	test('another process uses the data: the error says so, and the other process continues', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(directory, ['--demo']);
			const token = await server.printed(/ada .* (xoxp-\S+)/);
			const second = await tidemark(onFreePort(directory)).ended;
			expectRejection(second, /in use by process \d+: /, /--data-dir/);
			expect(second.err).not.toContain('..');
			const ada = client(server.url, token);
			expect((await ada('conversations.create', { name: 'still-writable' })).ok).toBe(true);
		});
	});

	test('the data directory is a file, is below a file, or cannot be written', async () => {
		await withDirectory(async (directory) => {
			const file = join(directory, 'file');
			await writeFile(file, 'mine');
			for (const path of [file, join(file, 'below')])
				expectRejection(await tidemark(onFreePort(path)).ended, /not a directory/, /--data-dir/);
			for (const path of ['/proc', '/proc/new']) {
				const rejected = await tidemark(onFreePort(path)).ended;
				expectRejection(rejected, /cannot be used as the data directory/, /--data-dir/);
			}
			expect(await Bun.file(file).text()).toBe('mine');
		});
	});

	test('the database is damaged: the error says so, and nothing is changed', async () => {
		await withDirectory(async (directory) => {
			const file = join(directory, 'tidemark.db');
			await writeFile(file, 'this is no database '.repeat(1_000));
			const rejected = await tidemark(onFreePort(directory)).ended;
			expectRejection(rejected, /tidemark\.db is damaged/, /Restore it from a backup/);
			expect(await Bun.file(file).text()).toStartWith('this is no database');
		});
	});

	test('unreadable keys of the integrating product are named', async () => {
		await withDirectory(async (directory) => {
			const args = [...onFreePort(directory), '--jwt-jwks', join(directory, 'missing.json')];
			expectRejection(await tidemark(args).ended, /--jwt-jwks/, /missing\.json/);
		});
	});

	test('a command with a wrong administrator’s token is rejected', async () => {
		await withDirectory(async (directory) => {
			const server = await serveProcess(directory);
			const answer = await rawClient(server.url, 'not-the-administrator')('admin.teams.create', {
				name: 'x',
			});
			expect(answer).toMatchObject({ ok: false, error: 'invalid_auth' });
		});
	});
});
