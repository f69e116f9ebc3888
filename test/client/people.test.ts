import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Network, until } from '../support/client/network.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Users, presence, typing, and conversations that are added and removed. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage() {
	const { people, admin, team } = await makeWorkspace(server.url, 3);
	const [ada, bo, cy] = people as [Person, Person, Person];
	const network = new Network();
	const client = sdk(server.url, ada, { ...network.options, random: () => 0 });
	const other = sdk(server.url, bo);
	await Promise.all([client.connect(), other.connect()]);
	const end = () => {
		client.disconnect();
		other.disconnect();
	};
	return { ada, bo, cy, admin, team, network, client, other, end };
}

test('a user is fetched once, when requested; or all users are', async () => {
	const { client, network, ada, bo, cy, end } = await stage();
	expect(client.user(bo.id)).toBeUndefined();
	expect(client.user(bo.id)).toBeUndefined();
	await until(client, ({ users }) => users.has(bo.id));
	expect(client.user(bo.id)).toMatchObject({ id: bo.id, name: bo.name, isBot: false, isDeleted: false });
	expect(network.callsOf('users.info')).toHaveLength(1);
	await client.loadUsers();
	expect([...client.getSnapshot().users.keys()].sort()).toEqual([ada.id, bo.id, cy.id, 'USLACKBOT'].sort());
	end();
});

test('a user who is created after all users were loaded is known at once', async () => {
	const { client, ada, admin, team, end } = await stage();
	const { user: early } = await admin('admin.users.create', { team_id: team, name: 'early' });
	await client.loadUsers();
	const { user: late } = await admin('admin.users.create', { team_id: team, real_name: 'Late Comer' });
	await until(client, ({ users }) => users.has(late.id));
	expect(client.user(late.id)).toMatchObject({ name: 'late.comer', realName: 'Late Comer' });
	expect(client.getSnapshot().users.has(early.id)).toBe(true);

	// A name that the client does not know still becomes a mention.
	const id = await client.createChannel('pier');
	const { ts } = await client.conversation(id).post('@late.comer hello', { linkNames: true });
	const { messages } = await ada.call('conversations.history', { channel: id, latest: ts, inclusive: true });
	expect(messages[0].text).toBe(`<@${late.id}> hello`);
	end();
});

test('a rename and a deactivation during an outage become visible after the reconnect', async () => {
	const { client, network, admin, bo, cy, end } = await stage();
	for (const { id } of [bo, cy]) client.user(id);
	await until(client, ({ users }) => users.has(bo.id) && users.has(cy.id));
	network.goOffline();
	await bo.call('users.profile.set', { profile: { real_name: 'Bo Renamed' } });
	await admin('admin.users.deactivate', { user_id: cy.id });
	network.goOnline();
	await until(
		client,
		({ users }) => users.get(bo.id)?.realName === 'Bo Renamed' && users.get(cy.id)?.isDeleted === true,
	);
	expect(network.frames.filter(({ type }) => type === 'user_change')).toEqual([]);
	expect(network.callsOf('users.info')).toHaveLength(4);
	end();
});

test('the presence of watched users is sent, also after a reconnect', async () => {
	const { client, other, network, bo, cy, end } = await stage();
	const stop = client.watchPresence([bo.id, cy.id]);
	await until(client, ({ presence }) => presence.get(bo.id) === 'active' && presence.get(cy.id) === 'away');
	await other.setPresence('away');
	await until(client, ({ presence }) => presence.get(bo.id) === 'away');
	network.cut();
	await client.settled();
	await other.setPresence('auto');
	await until(client, ({ presence }) => presence.get(bo.id) === 'active');
	stop();
	expect(client.getSnapshot().presence.size).toBe(0);
	end();
});

test('typing is shown to other members, ends with the message, and is sent at most every three seconds', async () => {
	const { client, other, network, bo, ada, end } = await stage();
	const id = await client.createChannel('quay');
	await client.conversation(id).invite([bo.id]);
	await other.settled();
	const theirs = other.conversation(id);
	client.conversation(id).sendTyping();
	client.conversation(id).sendTyping();
	await until(theirs, ({ typing }) => typing.includes(ada.id));
	expect(network.sent.filter(({ type }) => type === 'typing')).toHaveLength(1);
	const root = await client.conversation(id).post('here');
	await until(theirs, ({ typing }) => typing.length === 0);
	client.thread(id, root.ts).sendTyping();
	await until(other.thread(id, root.ts), ({ typing }) => typing.includes(ada.id));
	expect(theirs.getSnapshot().typing).toEqual([]);
	end();
});

test('conversations are added, changed and removed with their whole state', async () => {
	const { client, other, ada, bo, cy, end } = await stage();
	const quay = await client.createChannel('quay', { isPrivate: true });
	await client.settled();
	expect(client.getSnapshot().conversations.get(quay)).toMatchObject({ name: 'quay', kind: 'private' });
	await client.conversation(quay).invite([bo.id]);
	await client.conversation(quay).rename('pier');
	await client.conversation(quay).setTopic('tides');
	await client.conversation(quay).setPurpose('ferries');
	await other.settled();
	const expected = { name: 'pier', topic: 'tides', purpose: 'ferries', kind: 'private', creator: ada.id };
	expect(other.getSnapshot().conversations.get(quay)).toMatchObject(expected);
	const fresh = sdk(server.url, bo);
	await fresh.connect();
	expect(fresh.getSnapshot().conversations.get(quay)).toMatchObject(expected);

	const direct = await client.openDirect([bo.id]);
	const group = await client.openDirect([bo.id, cy.id]);
	await client.conversation(group).post('all of you');
	for (const one of [client, other, fresh]) {
		await one.settled();
		expect(one.getSnapshot().conversations.get(direct)).toMatchObject({ kind: 'im', name: '' });
		const members = one.getSnapshot().conversations.get(group)?.members ?? [];
		expect([...members].sort()).toEqual([ada.id, bo.id, cy.id].sort());
	}
	expect(client.getSnapshot().conversations.get(direct)?.user).toBe(bo.id);
	expect(other.getSnapshot().conversations.get(direct)?.user).toBe(ada.id);

	await client.conversation(quay).post('before the archive');
	await client.conversation(quay).archive();
	await expectExact(other, bo);
	expect(other.getSnapshot().conversations.has(quay)).toBe(false);
	await client.call('conversations.unarchive', { channel: quay });
	await expectExact(other, bo);
	expect(other.getSnapshot().conversations.get(quay)).toMatchObject({ ...expected, unreadCount: 1 });
	fresh.disconnect();
	end();
});

test('channels to join are listed, and the inbox has the server’s order', async () => {
	const { client, other, ada, bo, end } = await stage();
	const ids: string[] = [];
	for (const name of ['one', 'two', 'three']) ids.push(await other.createChannel(name));
	const { channels, cursor } = await client.browse();
	expect(channels.map(({ name, isMember }) => [name, isMember])).toEqual(
		expect.arrayContaining([
			['one', false],
			['two', false],
			['three', false],
		]),
	);
	expect(cursor).toBe('');
	for (const id of ids) await client.join(id);
	for (const id of [ids[1], ids[0]]) await other.conversation(String(id)).post(`to ${id}`);
	await expectExact(client, ada);
	const { items } = await ada.call('inbox.list', { limit: 100 });
	const shown = client.inbox.getSnapshot();
	expect(shown.map(({ id }) => id)).toEqual(items.map(({ id }: { id: string }) => id));
	expect(shown.map(({ preview }) => preview)).toEqual(items.map(({ latest }: { latest: unknown }) => latest));
	const fresh = sdk(server.url, ada);
	await fresh.connect();
	await fresh.settled();
	expect(fresh.inbox.getSnapshot()).toEqual(shown);
	expect(shown[0]?.preview?.user).toBe(bo.id);
	fresh.disconnect();
	end();
});
