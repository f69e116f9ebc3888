import { expect, test } from 'bun:test';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../src/app/config.ts';
import { judgeSpace } from '../../src/app/doctor/directory.ts';
import type { Finding } from '../../src/app/doctor/finding.ts';
import { judgeLog } from '../../src/app/doctor/log.ts';
import { judgeClock, judgeFiles } from '../../src/app/doctor/machine.ts';
import { settingsFindings } from '../../src/app/doctor/settings.ts';
import { client } from '../support/api.ts';
import { testServerProcess, tidemark, withDirectory } from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';

/** What `tidemark doctor` reports about healthy and broken installations. It changes nothing. */

async function doctor(args: readonly string[], environment: Record<string, string> = {}) {
	const { code, out, err } = await tidemark(['doctor', '--json', ...args], environment).ended;
	expect(err).toBe('');
	const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
	expect(code).toBe(ok ? 0 : 1);
	const of = (about: string): Finding[] => findings.filter((finding) => finding.about === about);
	return { ok, of, code };
}

const FREE_PORT = ['--port', '0'];

/** Names, sizes and times of all files in the directory. */
async function listing(directory: string): Promise<string[]> {
	const names = (await readdir(directory)).sort();
	return Promise.all(
		names.map(async (name) => {
			const { size, mtimeMs } = await stat(join(directory, name));
			return `${name} ${size} ${mtimeMs}`;
		}),
	);
}

test('a missing data directory is not an error, and doctor does not create it', async () => {
	await withDirectory(async (directory) => {
		const { ok, of } = await doctor([...FREE_PORT, '--data-dir', join(directory, 'not', 'yet')]);
		expect(ok).toBeTrue();
		expect(of('data directory')[0]?.found).toEndWith('will be created');
		expect(await readdir(directory)).toEqual([]);
	});
});

test('doctor recognises a running server by its lock and its answer, and does not disturb it', async () => {
	await withDirectory(async (directory) => {
		const server = await testServerProcess(directory);
		const port = new URL(server.url).port;
		const { ok, of } = await doctor(['--port', port, '--host', '127.0.0.1', '--data-dir', directory]);
		expect(ok).toBeTrue();
		expect(of('data directory')[0]?.found).toMatch(/in use by process \d+$/);
		const sizes = ['', '-wal'].map(async (end) => (await stat(join(directory, `tidemark.db${end}`))).size);
		const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size);
		expect(of('database')[0]?.found).toBe(`${(bytes / 1024 ** 2).toFixed(1)} MB, no damage found`);
		expect(of('port')[0]?.found).toBe(`a Tidemark server answers on port ${port}`);
		const call = client(server.url, ADMIN_TOKEN);
		expect(await call('admin.teams.create', { name: 'Still here' })).toMatchObject({ ok: true });
		await server.end('SIGTERM');
		const before = await listing(directory);
		const afterwards = await doctor([...FREE_PORT, '--data-dir', directory]);
		expect(afterwards.of('data directory')[0]?.found).toEndWith('not in use');
		expect(await listing(directory)).toEqual(before);
	});
});

test('doctor recognises a running server at the address that it listens on', async () => {
	await withDirectory(async (directory) => {
		for (const host of ['127.0.0.2', '::1', '::', '0.0.0.0']) {
			const server = tidemark(['serve', '--port', '0', '--host', host, '--data-dir', directory]);
			const port = await server.printed(/embedded engine, \S+:(\d+), data in/);
			const { of } = await doctor(['--port', port, '--host', host, '--data-dir', directory]);
			expect(of('port')).toMatchObject([{ state: 'ok', found: `a Tidemark server answers on port ${port}` }]);
			await server.end('SIGTERM');
		}
	});
});

test('settings that cannot be read are findings, and the command fails', async () => {
	const { ok, of, code } = await doctor([...FREE_PORT, '--jwt-secret', 'short', '--idle-minutes', 'x']);
	expect([ok, code]).toEqual([false, 1]);
	expect(of('settings').map(({ state, found }) => [state, found])).toEqual([
		['bad', '--jwt-secret is shorter than 32 bytes'],
		['bad', '--idle-minutes "x" is not a whole number from 5 to 525600'],
	]);
});

test('an empty database file is reported as empty', async () => {
	await withDirectory(async (directory) => {
		await writeFile(join(directory, 'tidemark.db'), '');
		const { ok, of } = await doctor([...FREE_PORT, '--data-dir', directory]);
		expect(ok).toBeFalse();
		expect(of('database')).toMatchObject([
			{
				state: 'bad',
				found: 'tidemark.db has 0 bytes',
				fix: 'Restore it from a backup; to start with an empty database, remove it',
			},
		]);
	});
});

test('a damaged database is reported, with what to do', async () => {
	await withDirectory(async (directory) => {
		await (await testServerProcess(directory)).end('SIGTERM');
		const file = join(directory, 'tidemark.db');
		const bytes = await readFile(file);
		bytes.fill(7, 4096, 4096 * 6);
		await writeFile(file, bytes);
		const { ok, of } = await doctor([...FREE_PORT, '--data-dir', directory]);
		expect(ok).toBeFalse();
		expect(of('database')).toMatchObject([{ state: 'bad', fix: expect.stringContaining('backup') }]);
	});
});

test('a taken port, unreadable keys and open permissions are reported together', async () => {
	await withDirectory(async (directory) => {
		await chmod(directory, 0o755);
		const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
		const args = ['--host', '127.0.0.1', '--port', String(other.port), '--data-dir', directory];
		const { ok, of } = await doctor(args, { TIDEMARK_APNS_KEY_FILE: join(directory, 'none.p8') });
		other.stop(true);
		expect(ok).toBeFalse();
		expect(of('port')[0]).toMatchObject({ state: 'bad', fix: expect.stringContaining('--port') });
		expect(of('apns')[0]?.found).toContain('cannot be read (ENOENT)');
		expect(of('settings').map(({ found }) => found)).toContain('TIDEMARK_APNS_TOPIC is missing');
		expect(of('data directory').map(({ state }) => state)).toEqual(['ok', 'warn']);
	});
});

test('doctor checks the permissions of the files that the server checks, not of other directories and links', async () => {
	await withDirectory(async (parent) => {
		const [directory, outside] = [join(parent, 'data'), join(parent, 'outside')];
		await mkdir(join(directory, 'backups'), { recursive: true });
		for (const file of [outside, join(directory, 'admin-token')]) await writeFile(file, '');
		await symlink(outside, join(directory, 'link'));
		await chmod(directory, 0o700);
		for (const open of [outside, join(directory, 'backups'), join(directory, 'admin-token')])
			await chmod(open, 0o755);
		const { of } = await doctor([...FREE_PORT, '--data-dir', directory]);
		const warnings = of('data directory').filter(({ state }) => state === 'warn');
		expect(warnings.map(({ fix }) => fix)).toEqual([`chmod go= ${join(directory, 'admin-token')}`]);
	});
});

test('missing services are reported with address and setting, and without a password', async () => {
	const { ok, of } = await doctor(FREE_PORT, {
		TIDEMARK_REDIS_URL: 'redis://:secret@127.0.0.1:9',
		TIDEMARK_POSTGRES_URL: 'postgres://somebody:secret@127.0.0.1:9/chat',
		TIDEMARK_KAFKA_BROKERS: '127.0.0.1:9',
	});
	expect(ok).toBeFalse();
	for (const [about, setting] of Object.entries({
		redis: 'TIDEMARK_REDIS_URL',
		postgresql: 'TIDEMARK_POSTGRES_URL',
		kafka: 'TIDEMARK_KAFKA_BROKERS',
	})) {
		expect(of(about)).toMatchObject([{ state: 'bad', fix: `Start it, or correct ${setting}` }]);
		expect(of(about)[0]?.found).toMatch(/127\.0\.0\.1:9.*ECONNREFUSED/);
		expect(of(about)[0]?.found).not.toContain('secret');
	}
});

test('the text output has one line per finding', async () => {
	await withDirectory(async (directory) => {
		const { code, out } = await tidemark(['doctor', ...FREE_PORT, '--data-dir', directory], {
			TIDEMARK_PROT: '80',
		}).ended;
		expect(code).toBe(0);
		expect(out).toMatch(/^warn {2}settings {8}TIDEMARK_PROT is not a setting of Tidemark\. See /m);
		for (const line of out.trimEnd().split('\n')) expect(line).toMatch(/^(ok {2}|warn|bad ) {2}\S/);
	});
});

test('contradictory and incomplete settings are reported', () => {
	const found = (environment: Record<string, string>): string[] =>
		settingsFindings(readConfig({}, environment), environment).map(({ state, found }) => `${state} ${found}`);
	expect(found({})).toEqual(['ok no unknown or contradictory settings']);
	expect(found({ TIDEMARK_JWT_SECRET: 'x'.repeat(32), TIDEMARK_JWT_JWKS: 'keys.json' })).toEqual([
		'bad TIDEMARK_JWT_SECRET and TIDEMARK_JWT_JWKS are both set',
	]);
	expect(found({ TIDEMARK_REDIS_URL: 'redis://localhost' })).toEqual([
		'bad TIDEMARK_POSTGRES_URL is missing',
		'bad TIDEMARK_KAFKA_BROKERS is missing',
		'warn TIDEMARK_ADMIN_TOKEN is missing',
	]);
	expect(found({ TIDEMARK_REQUESTS_PER_SECOND: '10' })[0]).toStartWith('warn TIDEMARK_POSTS_PER_SECOND');
});

test('disk space, open files and clocks are compared with what the server needs', () => {
	const states = (...findings: Finding[]): string[] => findings.map(({ state }) => state);
	expect(states(judgeSpace(1e7), judgeSpace(5e8), judgeSpace(5e9))).toEqual(['bad', 'warn', 'ok']);
	expect(states(judgeFiles(1_024, 1_000), judgeFiles(4_096, 1_000))).toEqual(['bad', 'ok']);
	const now = Date.UTC(2026, 5);
	expect(
		states(
			judgeClock(0, null, {}),
			judgeClock(now, now + 3_600_000, {}),
			judgeClock(now, now, { redis: now - 6_000 }),
			judgeClock(now, now + 1_000, { redis: now - 1_000 }),
		),
	).toEqual(['bad', 'bad', 'bad', 'ok']);
});

test('offsets in PostgreSQL are compared with what the topics contain', () => {
	const judged = (
		progress: Record<string, number>,
		held: Record<string, readonly [number, number]>,
		ids: Record<string, string> = {},
	) =>
		judgeLog({
			schema: 'inst',
			topics: ['t-conversations', 't-users'],
			progress: new Map(Object.entries(progress).map(([name, next]) => [name, { next, topicId: 'known' }])),
			ids: new Map(Object.entries(ids)),
			held: new Map(Object.entries(held).map(([name, [first, end]]) => [name, { first, end }])),
		});
	expect(judged({}, {})).toMatchObject([{ state: 'ok', found: expect.stringContaining('no topic yet') }]);
	// Offsets at the end, at the start, and none yet.
	expect(
		judged(
			{ 't-conversations/0': 7, 't-users/0': 3 },
			{ 't-conversations/0': [2, 7], 't-users/0': [3, 5], 't-users/1': [0, 4] },
		),
	).toMatchObject([
		{
			state: 'ok',
			found: expect.stringMatching(/^3 partitions.*; workers still have to read 6 log records$/),
		},
	]);
	expect(judged({ 't-conversations/0': 1 }, { 't-conversations/0': [2, 7], 't-users/0': [0, 0] })).toEqual([
		{
			about: 'log',
			state: 'bad',
			found: expect.stringMatching(/^t-conversations\/0 must be read from 1, .* 2 to 7\. .* are lost$/),
			fix: expect.stringContaining('UPDATE inst.partition_progress'),
		},
	]);
	// There is no stored offset, and the start of the partition is no longer in Kafka.
	expect(judged({}, { 't-users/3': [1, 1] })).toMatchObject([{ state: 'bad' }]);
	// A topic was created again with fewer partitions; another topic is missing.
	const made = { 't-conversations/0': 9, 't-conversations/1': 9, 't-users/0': 1 };
	expect(judged(made, { 't-conversations/0': [0, 4] })).toMatchObject([
		{
			state: 'bad',
			found: expect.stringContaining('t-conversations/1 must be read from 9, but Kafka holds 0 to 0'),
			fix: expect.stringContaining(
				`DELETE FROM inst.partition_progress WHERE partition LIKE 't-conversations/%'`,
			),
		},
		{ state: 'bad', found: expect.stringContaining('t-users/0') },
	]);
	// If the topic was created again, matching offsets mean nothing; for the other topic they do.
	const ids = { 't-conversations': 'another', 't-users': 'known' };
	const fits = { 't-conversations/0': [0, 9], 't-conversations/1': [0, 9], 't-users/0': [0, 1] } as const;
	expect(judged(made, fits, ids)).toMatchObject([
		{
			state: 'bad',
			found: expect.stringMatching(/^t-conversations was deleted and created again/),
			fix: expect.stringContaining(
				`DELETE FROM inst.partition_progress WHERE partition LIKE 't-conversations/%'`,
			),
		},
	]);
	expect(judged(made, fits, { ...ids, 't-conversations': 'known' })).toMatchObject([{ state: 'ok' }]);
	const many = Object.fromEntries(Array.from({ length: 64 }, (_, number) => [`t-users/${number}`, 1]));
	expect(judged(many, {})[0]?.found).toContain('; and 61 more partitions like these.');
});
