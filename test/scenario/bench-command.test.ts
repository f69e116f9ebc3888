import { expect, test } from 'bun:test';
import type { BenchResult } from '../../src/load/result.ts';
import { eventually } from '../support/eventually.ts';
import {
	type ServerProcess,
	type TidemarkProcess,
	testServerProcess,
	tidemark,
	withDirectory,
} from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';

/** `tidemark bench` against real servers: what it measures, what it reports about faults, and that it stops on request. */

const bench = ({ url }: { readonly url: string }, ...args: readonly string[]): TidemarkProcess =>
	tidemark(['bench', '--url', url, '--json', ...args], { TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN });

const SMALL = ['--conversations', '3', '--members', '4', '--online', '6', '--warm-up', '0'];
const PATIENCE_MS = 60_000;
/** Per user: enough for six users at 60 posts/s together, too little for one at 300. */
const LIMIT = ['--posts-per-second', '20'];

test('on a healthy server everything is acknowledged and delivered once, and counts are exact', async () => {
	await withDirectory(async (directory) => {
		const server = await testServerProcess(directory, LIMIT);
		const { code, out, err } = await bench(
			server,
			...SMALL,
			'--rate',
			'60',
			'--marks',
			'20',
			'--seconds',
			'2',
		).ended;
		const result = JSON.parse(out) as BenchResult;
		expect(result).toMatchObject({
			ok: true,
			interrupted: false,
			load: { conversations: 3, members: 4, online: 6, rate: 60, marks: 20 },
			seconds: 2,
			posts: { due: 120, sent: 120, acknowledged: 120, unanswered: 0 },
			deliveries: { count: 480, gaps: 0, repeated: 0 },
			marks: { unanswered: 0 },
			errors: {},
			counts: { people: 6, rows: 12, exact: 12, unclear: 0, wrong: 0 },
		});
		const latencies = [result.posts.ms, result.deliveries.ms, result.marks?.ms, result.generator.late_ms];
		for (const each of latencies) expect(each?.p50).toBeWithin(0, (each?.max ?? 0) + 1);
		expect(code).toBe(0);
		expect(err).toContain(
			`creating the workspace "${result.workspace.name}" (${result.workspace.id}), which cannot be deleted`,
		);

		const alone = ['--conversations', '1', '--members', '500', '--online', '1', '--warm-up', '0'];
		const limited = await bench(server, ...alone, '--rate', '300', '--seconds', '1').ended;
		const rejected = JSON.parse(limited.out) as BenchResult;
		expect(rejected).toMatchObject({ ok: true, counts: { people: 50, exact: 50 } });
		expect(rejected.errors.ratelimited).toBe(300 - rejected.posts.acknowledged);
		expect(rejected.notes.join()).toContain('--posts-per-second 0');

		const stranger = await tidemark(['bench', '--url', server.url], {
			TIDEMARK_ADMIN_TOKEN: 'that-of-another-server',
		}).ended;
		expect([stranger.code, stranger.out]).toEqual([1, '']);
		expect(stranger.err).toMatch(/does not recognise this administrator’s token. Set TIDEMARK_ADMIN_TOKEN/);
		await server.end('SIGTERM');
	});
});

test('after kill -9 of the server, clients reconnect and miss nothing; Ctrl-C ends with the measured figures', async () => {
	await withDirectory(async (directory) => {
		const server = await testServerProcess(directory);
		const running = bench(server, ...SMALL, '--rate', '100', '--seconds', '600');
		await eventually(async () => expect(running.err()).toMatch(/ 1 s /), PATIENCE_MS);
		await server.end('SIGKILL');
		await restarted(server, directory);
		await eventually(
			async () => expect(lastLine(running.err())).toMatch(/ [1-9]\d* posts .* [1-9]\d* deliveries /),
			PATIENCE_MS,
		);
		const { code, out } = await running.end('SIGINT');
		const result = JSON.parse(out) as BenchResult;
		expect(result).toMatchObject({ ok: true, interrupted: true, deliveries: { gaps: 0, repeated: 0 } });
		expect(result.counts).toMatchObject({ rows: 12, wrong: 0 });
		expect(Object.keys(result.errors).join()).toMatch(/socket closed: 1006/);
		expect(result.posts.due - result.posts.sent).toBe(result.errors['not sent: no socket'] ?? 0);
		expect(result.notes.join()).not.toContain('lower --rate');
		expect(code).toBe(0);
	});
});

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

/** On the same data and port. */
const restarted = ({ url }: ServerProcess, directory: string): Promise<ServerProcess> =>
	testServerProcess(directory, ['--port', new URL(url).port]);
