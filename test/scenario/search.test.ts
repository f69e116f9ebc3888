import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, client } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { isOnCluster, startServer, type TestServer } from '../support/server.ts';

/** Search: words and modifiers, only messages that the caller may read, and nothing that was deleted. */

/** On one machine the index is updated a moment after a post. */
const INDEXED_WITHIN_MS = 10_000;

let server: TestServer;
let ada: Person;
let grace: Person;
let other: Person;
let bot: Person;
let admin: Call;
let team: string;
let quay: string;
let secret: string;
const posted: Record<string, string> = {};

beforeAll(async () => {
	server = await startServer();
	const workspace = await makeWorkspace(server.url, 2, 'Search');
	({ admin, team } = workspace);
	[ada, grace] = workspace.people as [Person, Person];
	[other] = (await makeWorkspace(server.url, 1, 'Elsewhere')).people as [Person];
	const { user } = await admin('admin.users.create', {
		team_id: team,
		name: 'crane',
		is_bot: true,
	});
	const { token } = await admin('admin.tokens.create', { user_id: user.id });
	bot = { id: user.id, name: 'crane', token, call: client(server.url, token) };
	quay = (await ada.call('conversations.create', { name: 'quay' })).channel.id;
	secret = (await ada.call('conversations.create', { name: 'vault', is_private: true })).channel.id;
	const dm = (await ada.call('conversations.open', { users: grace.id })).channel.id;
	await ada.call('conversations.invite', { channel: quay, users: grace.id });
	const post = async (key: string, person: Person, channel: string, text: string, more = {}) => {
		posted[key] = (await person.call('chat.postMessage', { channel, text, ...more })).ts;
	};
	await post('ship', ada, quay, 'The ship lies at the quay; Über the water: a ship');
	await post('fog', grace, quay, 'No ship in this fog. https://example.org/fog');
	await post('reply', grace, quay, 'a reply about a ship', { thread_ts: posted.ship });
	await post('hidden', ada, secret, 'a ship full of gold');
	await post('direct', ada, dm, 'ship it');
	await post('edited', ada, quay, 'before the edit: barnacle');
	await post('gone', ada, quay, 'xylophone ship');
}, 300_000);
afterAll(() => server.stop());

const find = async (person: Person, query: string, more = {}) =>
	(await person.call('search.messages', { query, sort: 'timestamp', sort_dir: 'asc', ...more })).messages;
// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
const keysOf = (messages: any): string[] =>
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	messages.matches.map(({ ts }: any) => Object.keys(posted).find((key) => posted[key] === ts));
const expectFound = (person: Person, query: string, keys: readonly string[]) =>
	eventually(
		async () => expect([query, keysOf(await find(person, query))]).toEqual([query, [...keys]]),
		INDEXED_WITHIN_MS,
	);

test('words, phrases, negation and modifiers find messages that the caller may read', async () => {
	const all = ['ship', 'fog', 'reply', 'hidden', 'direct', 'gone'];
	await expectFound(ada, 'ship', all);
	await expectFound(
		grace,
		'SHIP',
		all.filter((key) => key !== 'hidden'),
	);
	await expectFound(ada, 'uber', isOnCluster() ? [] : ['ship']);
	await expectFound(ada, '"lies at the quay"', ['ship']);
	await expectFound(ada, '"quay the at"', []);
	await expectFound(ada, 'ship -fog -gold', ['ship', 'reply', 'direct', 'gone']);
	await expectFound(ada, 'in:quay from:me -xylophone -barn*', ['ship']);
	await expectFound(ada, 'xylo*', ['gone']);
	await expectFound(ada, 'ship from:@person-1', ['fog', 'reply']);
	await expectFound(ada, `ship from:<@${grace.id}> has:link`, ['fog']);
	await expectFound(ada, 'ship in:#vault', ['hidden']);
	await expectFound(grace, 'ship in:vault', []);
	await expectFound(ada, 'ship in:@person-1', ['direct']);
	await expectFound(ada, 'ship from:nobody-such', []);
	await expectFound(ada, 'ship before:2020-01-01', []);
	await expectFound(ada, 'ship after:2020-01-01 in:quay', ['ship', 'fog', 'reply', 'gone']);
	await expectFound(ada, 'ship on:today in:quay', ['ship', 'fog', 'reply', 'gone']);
	await expectFound(grace, 'from:me', ['fog', 'reply']);
	await expectFound(ada, '" OR 1=1 -- \' \\', []);
	await expect(ada.call('search.messages', { query: ' ' })).rejects.toThrow('no_query');
});

test('nothing crosses a workspace, and bots search only where they are members', async () => {
	await expectFound(ada, 'barnacle', ['edited']);
	expect((await find(other, 'ship')).total).toBe(0);
	expect((await find(other, 'from:me')).total).toBe(0);
	expect((await find(bot, 'ship')).total).toBe(0);
	await bot.call('conversations.join', { channel: quay });
	await expectFound(bot, 'ship', ['ship', 'fog', 'reply', 'gone']);
	await bot.call('conversations.leave', { channel: quay });
	await eventually(async () => expect((await find(bot, 'ship')).total).toBe(0), INDEXED_WITHIN_MS);
});

test('pages, channel, permalink and order are as in Slack', async () => {
	await expectFound(ada, 'ship', ['ship', 'fog', 'reply', 'hidden', 'direct', 'gone']);
	const page = await find(ada, 'ship', { count: 4, page: 2 });
	expect(page).toMatchObject({
		total: 6,
		paging: { count: 4, total: 6, page: 2, pages: 2 },
		pagination: { total_count: 6, page: 2, per_page: 4, page_count: 2, first: 5, last: 6 },
	});
	expect(keysOf(page)).toEqual(['direct', 'gone']);
	const [first] = keysOf(await find(ada, 'ship', { sort: 'score', sort_dir: 'desc' }));
	expect(first).toBe('ship');
	const [match] = (await find(ada, 'lies')).matches;
	expect(match).toMatchObject({
		type: 'message',
		user: ada.id,
		text: 'The ship lies at the quay; Über the water: a ship',
		ts: posted.ship,
		channel: { id: quay, name: 'quay', is_private: false },
		reply_count: 1,
	});
	expect(match.permalink).toContain(quay);
	const all = await ada.call('search.all', { query: 'lies' });
	expect(all.messages.total).toBe(1);
	expect(all.files).toMatchObject({ total: 0, matches: [] });
});

test('edits and deletes change the index, which keeps nothing of a deleted text', async () => {
	await expectFound(ada, 'xylophone', ['gone']);
	await ada.call('chat.update', { channel: quay, ts: posted.edited, text: 'after the edit: limpet' });
	await ada.call('chat.delete', { channel: quay, ts: posted.gone });
	await expectFound(ada, 'barnacle', []);
	await expectFound(ada, 'limpet', ['edited']);
	await expectFound(ada, 'xylophone', []);
	if (isOnCluster()) return;
	await server.restart();
	const file = await readFile(join(server.dataDir, 'tidemark.db'));
	expect([file.includes('limpet'), file.includes('xylophone'), file.includes('barnacle')]).toEqual([
		true,
		false,
		false,
	]);
	await expectFound(ada, 'limpet', ['edited']);
});

test('names of users are found as written, or in lower case', async () => {
	const mia = await admin('admin.users.create', { team_id: team, name: 'Mia' });
	const { token } = await admin('admin.tokens.create', { user_id: mia.user.id });
	const call = client(server.url, token);
	await call('conversations.join', { channel: quay });
	posted.gull = (await call('chat.postMessage', { channel: quay, text: 'a gull' })).ts;
	await expectFound(ada, 'gull from:Mia', ['gull']);
	await expectFound(ada, 'fog from:PERSON-1', ['fog']);
});
