import { expect, test } from 'bun:test';
import { createClient } from '../../client/src/index.ts';
import { FakeServer } from '../support/client/fake-server.ts';

/** Users after an outage: the server does not resend `user_change`, so the client reloads the users that views read. */

type Json = Record<string, unknown>;

const wire = (id: string, realName: string): Json => ({ id, name: id.toLowerCase(), real_name: realName });

async function stage() {
	const names = new Map<string, string>();
	const nameOf = (id: string) => names.get(id) ?? `Old ${id}`;
	const held: (() => void)[] = [];
	const settings = { isHeld: false, isBroken: false };
	const server = new FakeServer({
		'users.info': async ({ user }) => {
			if (settings.isBroken) return { error: 'fatal_error' };
			const answer = { user: wire(String(user), nameOf(String(user))) };
			if (settings.isHeld) await new Promise<void>((release) => held.push(release));
			return answer;
		},
		'users.list': () => ({ members: ['U2', 'U3', 'U4'].map((id) => wire(id, nameOf(id))) }),
	});
	const client = createClient(server.options);
	const { time } = server;
	void client.connect();
	await time.pass(10);
	const hello = async () => {
		server.socket.hello();
		await time.pass(100);
	};
	await hello();
	const reconnect = async () => {
		server.socket.end(1006);
		await time.pass(1_000);
		await hello();
	};
	const resync = async () => {
		server.socket.push({ type: 'resync', reason: 'too_far_behind' });
		await time.pass(1_000);
		await hello();
	};
	/** The users that were requested, since the last call of this function. */
	let seen = 0;
	const requested = () => {
		const all = server.callsOf('users.info').map(({ args }) => args.user as string);
		const added = all.slice(seen);
		seen = all.length;
		return added;
	};
	const load = async (...ids: string[]) => {
		for (const id of ids) client.user(id);
		await time.pass(100);
		requested();
	};
	/** A view that shows these users, and never calls `client.user`. */
	const shown = new Map<string, string | undefined>();
	const show = (...ids: string[]) =>
		client.subscribe(() => {
			const { users } = client.getSnapshot();
			for (const id of ids) shown.set(id, users.get(id)?.realName);
		});
	return { server, client, time, names, held, settings, reconnect, resync, requested, load, show, shown };
}

test('after a reconnect, the users that a view shows are loaded again, and no others', async () => {
	const { names, time, load, show, shown, reconnect, requested, client } = await stage();
	await load('U2', 'U3');
	show('U2');
	names.set('U2', 'New U2').set('U3', 'New U3');
	await reconnect();
	await time.pass(2_000);
	expect(shown.get('U2')).toBe('New U2');
	expect(requested()).toEqual(['U2']);
	// A user that was not shown is loaded when it is read; until then, the old value is returned.
	expect(client.user('U3')?.realName).toBe('Old U3');
	await time.pass(2_000);
	expect(client.user('U3')?.realName).toBe('New U3');
	expect(requested()).toEqual(['U3']);
	await time.pass(2_000);
	expect(requested()).toEqual([]);
});

test('after a resync, too', async () => {
	const { server, names, time, load, show, shown, resync } = await stage();
	await load('U2');
	show('U2');
	names.set('U2', 'New U2');
	await resync();
	expect(server.callsOf('client.counts')).toHaveLength(2);
	await time.pass(2_000);
	expect(shown.get('U2')).toBe('New U2');
});

test('a view that selects all users gets a new map after a reconnect, so that it reads them again', async () => {
	const { load, reconnect, client } = await stage();
	await load('U2');
	const before = client.getSnapshot().users;
	await reconnect();
	const after = client.getSnapshot().users;
	expect(after).not.toBe(before);
	expect(after).toEqual(before);
});

test('a user who has not changed keeps its identity', async () => {
	const { load, show, reconnect, requested, time, client } = await stage();
	await load('U2');
	const before = client.user('U2');
	show('U2');
	await reconnect();
	await time.pass(2_000);
	expect(requested()).toEqual(['U2']);
	expect(client.user('U2')).toBe(before as never);
});

test('the client reloads one user at a time, and after all users were loaded only those that are read', async () => {
	const { client, names, held, settings, reconnect, requested, show, shown, time } = await stage();
	await client.loadUsers();
	show('U2', 'U3');
	names.set('U2', 'New U2').set('U3', 'New U3');
	settings.isHeld = true;
	await reconnect();
	await time.pass(5_000);
	expect(requested()).toHaveLength(1);
	held.shift()?.();
	await time.pass(5_000);
	expect(requested()).toHaveLength(1);
	held.shift()?.();
	await time.pass(5_000);
	expect(requested()).toEqual([]);
	expect(Object.fromEntries(shown)).toEqual({ U2: 'New U2', U3: 'New U3' });
});

test('of many users, the 200 that were read last are reloaded', async () => {
	const { client, load, reconnect, requested, time } = await stage();
	const ids = Array.from({ length: 250 }, (_, index) => `U${index + 10}`);
	await load(...ids);
	await reconnect();
	for (const id of ids) client.user(id);
	await time.pass(300_000);
	expect(requested()).toEqual(ids.slice(50).reverse());
});

test('an event that arrives during a request wins over the answer', async () => {
	const { server, client, held, settings, load, show, shown, reconnect, requested, time } = await stage();
	const change = (id: string, realName: string) =>
		server.socket.push({ type: 'user_change', user: wire(id, realName) });
	await load('U2');
	show('U2', 'U3');
	settings.isHeld = true;
	await reconnect();
	await time.pass(2_000);
	client.user('U3');
	await time.pass(100);
	expect(requested()).toEqual(['U2', 'U3']);
	change('U2', 'Newest U2');
	change('U3', 'Newest U3');
	for (const release of held.splice(0)) release();
	await time.pass(2_000);
	expect(Object.fromEntries(shown)).toEqual({ U2: 'Newest U2', U3: 'Newest U3' });
	expect(requested()).toEqual([]);
});

test('an answer from before an outage does not confirm a user, and a lost one does not block the next reload', async () => {
	const { names, held, settings, load, show, shown, reconnect, requested, time } = await stage();
	await load('U2');
	show('U2');
	settings.isHeld = true;
	await reconnect();
	await time.pass(2_000);
	names.set('U2', 'New U2');
	settings.isHeld = false;
	await reconnect();
	await time.pass(2_000);
	expect(requested()).toEqual(['U2', 'U2']);
	expect(shown.get('U2')).toBe('New U2');
	for (const release of held) release();
	await time.pass(2_000);
	expect(shown.get('U2')).toBe('New U2');
});

test('a failed reload is repeated at the next read', async () => {
	const { client, names, settings, load, reconnect, requested, time } = await stage();
	await load('U2');
	names.set('U2', 'New U2');
	settings.isBroken = true;
	await reconnect();
	expect(client.user('U2')?.realName).toBe('Old U2');
	await time.pass(2_000);
	expect(requested()).toEqual(['U2']);
	settings.isBroken = false;
	expect(client.user('U2')?.realName).toBe('Old U2');
	await time.pass(2_000);
	expect(client.user('U2')?.realName).toBe('New U2');
});

test('users that were loaded while the client connected for the first time are not loaded twice', async () => {
	const server = new FakeServer({ 'users.info': ({ user }) => ({ user: wire(String(user), 'Name') }) });
	const client = createClient(server.options);
	void client.connect();
	client.user('U2');
	await server.time.pass(100);
	server.socket.hello();
	await server.time.pass(100);
	client.user('U2');
	await server.time.pass(5_000);
	expect(server.callsOf('users.info')).toHaveLength(1);
});

test('a list of all users that was requested before an outage makes nothing be reloaded', async () => {
	const { server, time, reconnect, requested, client } = await stage();
	const held: (() => void)[] = [];
	const members = ['U2', 'U3', 'U4'].map((id) => wire(id, `Old ${id}`));
	server.answers['users.list'] = async () => {
		await new Promise<void>((release) => held.push(release));
		return { members };
	};
	void client.loadUsers();
	await time.pass(10);
	await reconnect();
	for (const release of held) release();
	await time.pass(5_000);
	expect(client.getSnapshot().users.size).toBe(3);
	expect(requested()).toEqual([]);
});

test('after disconnect nothing is reloaded', async () => {
	const { time, load, show, reconnect, requested, client } = await stage();
	await load('U2', 'U3');
	await reconnect();
	show('U2', 'U3');
	client.user('U2');
	client.user('U3');
	client.disconnect();
	await time.pass(10_000);
	expect(requested()).toEqual([]);
});
