import { expect, test } from 'bun:test';
import { client } from '../support/api.ts';
import {
	checkMembers,
	checkMessages,
	checkOnce,
	checkPicked,
	checkReads,
	histories,
	repeatSends,
} from '../support/kill-check.ts';
import { type Book, load, makeCast, newBook } from '../support/kill-load.ts';
import type { Person } from '../support/people.ts';
import { testServerProcess, withDirectory } from '../support/process.ts';
import { connect, type Frame } from '../support/socket.ts';
import { download, shared } from '../support/uploads.ts';

/** kill -9 under load: acknowledged changes are not lost, and nothing exists twice. */

const ROUNDS = 4;
const ACKNOWLEDGED_PER_ROUND = 700;

/** Everything that a client has seen is on disk: it is found again, or was deleted since. */
function checkHeard(
	received: readonly Frame[],
	shown: Awaited<ReturnType<typeof histories>>,
	book: Book,
): void {
	const deleted = new Set(
		[...book.sent.values()].filter(({ text }) => text === null).map(({ channel, ts }) => `${channel} ${ts}`),
	);
	const posts = received.filter(({ type, subtype }) => type === 'message' && subtype === undefined);
	expect(posts.length).toBeGreaterThan(0);
	const lost = posts.filter(
		({ channel, ts }) => !shown.get(channel)?.has(ts) && !deleted.has(`${channel} ${ts}`),
	);
	expect(lost).toEqual([]);
}

test(`a server that is killed ${ROUNDS} times under load keeps everything that it acknowledged`, async () => {
	await withDirectory(async (directory) => {
		const book = newBook();
		let server = await testServerProcess(directory);
		const cast = await makeCast(server.url, book);
		const witness = cast.writers[0] as Person;
		let repeated = 0;
		const kept: string[] = [];
		for (let round = 1; round <= ROUNDS; round += 1) {
			const listener = await connect({ ...witness, call: client(server.url, witness.token) });
			const file = await shared(
				{ ...witness, call: client(server.url, witness.token) },
				'kept.txt',
				`kept ${round}`,
			);
			kept.push(new URL(file.url_private).pathname);
			const until = book.acknowledged + ACKNOWLEDGED_PER_ROUND;
			let killed: Promise<unknown> | undefined;
			await load(server.url, cast, book, round, () => {
				if (book.acknowledged >= until) killed ??= server.end('SIGKILL');
			});
			expect(await killed).toMatchObject({ signal: 'SIGKILL', err: '' });
			await listener.closed;

			server = await testServerProcess(directory);
			for (const [index, path] of kept.entries())
				expect(await (await download(`${server.url}${path}`, witness)).text()).toBe(`kept ${index + 1}`);
			const call = client(server.url, witness.token);
			const found = await histories(call, cast.channels);
			checkMessages(book, found);
			checkHeard(listener.frames, found, book);
			await checkMembers(server.url, cast, book, witness);
			repeated += await repeatSends(server.url, cast, book, found);
			const settled = await histories(call, cast.channels);
			checkMessages(book, settled);
			checkOnce(settled);
			await checkReads(server.url, cast, book, settled);
			await checkPicked(server.url, cast, book, settled);
		}
		// Otherwise nothing was in flight when the server died.
		expect(repeated).toBeGreaterThan(0);
		await server.end('SIGTERM');
	});
});
