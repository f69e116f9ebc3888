import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { directId } from '../../src/model/ids.ts';
import type { Answer } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { patienceMs, startServer, type TestServer } from '../support/server.ts';

/** What users can find out about other users' conversations: only the shared ones. */

const ALL_TYPES = 'public_channel,private_channel,mpim,im';

let server: TestServer;
let workspace: Workspace;
let [ada, bob, carl] = [] as unknown as [Person, Person, Person];

beforeAll(async () => {
	server = await startServer();
	workspace = await makeWorkspace(server.url, 4);
	[ada, bob, carl] = workspace.people as [Person, Person, Person];
});
afterAll(() => server.stop());

/** Every page of a list, one item each. */
async function pagesOf(who: Person, args: Record<string, unknown>): Promise<Answer[]> {
	const pages: Answer[] = [];
	let cursor = '';
	do {
		const page = await who.call('users.conversations', {
			...args,
			types: ALL_TYPES,
			limit: 1,
			...(cursor === '' ? {} : { cursor }),
		});
		pages.push(page);
		cursor = page.response_metadata.next_cursor;
	} while (cursor !== '' && pages.length < 100);
	return pages;
}

describe('conversations of another user', () => {
	let hidden: string[] = [];
	let shared: string[] = [];

	beforeAll(async () => {
		const create = async (name: string, is_private: boolean, others: readonly Person[]) => {
			const { channel } = await ada.call('conversations.create', { name, is_private });
			const users = others.map(({ id }) => id).join(',');
			if (users !== '') await ada.call('conversations.invite', { channel: channel.id, users });
			return channel.id as string;
		};
		const open = async (...others: readonly Person[]) =>
			(await ada.call('conversations.open', { users: others.map(({ id }) => id).join(',') })).channel.id;
		for (let number = 0; number < 5; number += 1) hidden.push(await create(`plot-${number}`, true, [carl]));
		hidden.push(await open(carl), await open(carl, workspace.people[3] as Person));
		shared = [
			await create('town-hall', false, []),
			await create('both', true, [bob, carl]),
			await create('square', false, [carl]),
			await open(bob),
			await open(bob, carl),
		];
		hidden = hidden.sort();
		shared = shared.sort();
	});

	test('are listed if they are shared, page by page, without a trace of the others', async () => {
		const pages = await eventually(async () => {
			const found = await pagesOf(bob, { user: ada.id });
			expect(found.flatMap(({ channels }) => channels.map(({ id }: { id: string }) => id))).toEqual(shared);
			return found;
		}, patienceMs());
		// There are as many pages as shown items: empty pages would reveal the number of hidden ones.
		expect(pages.map(({ channels }) => channels.length)).toEqual(shared.map(() => 1));
		for (const { response_metadata } of pages) {
			const cursor = response_metadata.next_cursor as string;
			const seen = cursor + Buffer.from(cursor, 'base64').toString('latin1');
			for (const id of [...hidden, ...shared]) expect(seen).not.toContain(id);
		}
	});

	test('are all listed for the user who is in them', async () => {
		const found = await eventually(async () => {
			const pages = await pagesOf(ada, {});
			expect(pages).toHaveLength(hidden.length + shared.length);
			return pages;
		}, patienceMs());
		const ids = found.flatMap(({ channels }) => channels.map(({ id }: { id: string }) => id));
		expect(ids.sort()).toEqual([...hidden, ...shared].sort());
	});

	test('a page cursor works only for the user who got it, and an invented one does not work', async () => {
		const [first] = (await pagesOf(ada, {})) as [Answer];
		const next_cursor: string = first.response_metadata.next_cursor;
		const byHand = Buffer.from(`after:${hidden[0]}`).toString('base64');
		const changed = `${next_cursor.slice(0, 8)}${next_cursor[8] === 'A' ? 'B' : 'A'}${next_cursor.slice(9)}`;
		for (const cursor of [byHand, changed])
			await expect(ada.call('users.conversations', { types: ALL_TYPES, cursor })).rejects.toThrow(
				'invalid_cursor',
			);
		await expect(bob.call('users.conversations', { cursor: next_cursor })).rejects.toThrow('invalid_cursor');
	});
});

describe('ids of direct messages', () => {
	const sha256 = (text: string) => createHash('sha256').update(text).digest();
	const open = async (who: Person, ...others: readonly Person[]): Promise<string> =>
		(await who.call('conversations.open', { users: others.map(({ id }) => id).join(',') })).channel.id;

	test('cannot be computed from their members', async () => {
		expect(await open(ada, bob)).not.toBe(directId('im', workspace.team, [ada.id, bob.id], sha256));
		expect(await open(ada, bob, carl)).not.toBe(
			directId('mpim', workspace.team, [ada.id, bob.id, carl.id], sha256),
		);
	});

	test('are the same for everyone who opens one, even at the same time and in a new workspace', async () => {
		const fresh = await makeWorkspace(server.url, 3, 'Fresh');
		const [one, two, three] = fresh.people as [Person, Person, Person];
		const direct = Array.from({ length: 6 }, (_, index) => (index % 2 ? open(one, two) : open(two, one)));
		const group = [open(one, two, three), open(two, three, one), open(three, one, two)];
		expect(new Set(await Promise.all(direct)).size).toBe(1);
		expect(new Set(await Promise.all(group)).size).toBe(1);
	});

	test('stay the same after a restart', async () => {
		const before = await open(ada, bob);
		await server.restart();
		expect(await open(bob, ada)).toBe(before);
	});
});
