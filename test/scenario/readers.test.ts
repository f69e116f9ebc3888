import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** conversations.readers: a user who marks is listed from the acknowledgement on, and a user who marks unread is not. */

const ROUNDS = 5;

let server: TestServer;
let author: Person;
let marker: Person;
let others: readonly Person[];
let channel: string;

beforeAll(async () => {
	server = await startServer();
	const { people } = await makeWorkspace(server.url, 5);
	[author, marker] = people as [Person, Person];
	others = people.slice(2);
	channel = (await author.call('conversations.create', { name: 'readers' })).channel.id;
	const users = [marker, ...others].map(({ id }) => id);
	await author.call('conversations.invite', { channel, users });
});
afterAll(() => server.stop());

const post = async (): Promise<string> =>
	(await author.call('chat.postMessage', { channel, text: 'read me' })).ts;
const readersOf = async (ts: string, page = {}) =>
	author.call('conversations.readers', { channel, ts, ...page });

test('the next request sees an acknowledged mark, including one that moves the cursor back', async () => {
	for (let round = 0; round < ROUNDS; round += 1) {
		const [first, second] = [await post(), await post()];
		await marker.call('conversations.markMessage', { channel, ts: second });
		expect((await readersOf(second)).readers).toEqual([marker.id]);
		expect((await readersOf(first)).readers).toEqual([]);
		await marker.call('conversations.mark', { channel, ts: second });
		expect((await readersOf(first)).readers).toEqual([marker.id]);
		await marker.call('conversations.markUnread', { channel, ts: first });
		expect((await readersOf(second)).readers).toEqual([]);
		await marker.call('conversations.mark', { channel, ts: second });
	}
});

test('pages contain each reader once, without the author', async () => {
	const ts = await post();
	const readers = [marker, ...others];
	for (const { call } of readers) await call('conversations.mark', { channel, ts });
	await author.call('conversations.mark', { channel, ts });
	const found: string[] = [];
	for (let cursor: string | undefined = ''; cursor !== undefined; ) {
		const page = await readersOf(ts, { limit: 2, ...(cursor ? { cursor } : {}) });
		expect(page.readers.length).toBe(2);
		found.push(...page.readers);
		cursor = page.response_metadata.next_cursor || undefined;
	}
	expect(found).toEqual(readers.map(({ id }) => id).sort());
});
