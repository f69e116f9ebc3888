import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SignJWT } from 'jose';
import { type Answer, client, rawClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { JWT_SECRET, patienceMs, startServer, type TestServer } from '../support/server.ts';
import { connect, socketUrl, TestSocket } from '../support/socket.ts';

/** A person leaves the company: nothing of theirs works any more, at once and everywhere, and their messages stay. */

const SIGNED_OUT = 4200;
const TOKEN_EXPIRED = 4203;

let server: TestServer;
let workspace: Workspace;

beforeAll(async () => {
	server = await startServer({ 'jwt-secret': JWT_SECRET });
	workspace = await makeWorkspace(server.url, 0);
});
afterAll(() => server.stop());

let people = 0;

async function person(): Promise<Person> {
	people += 1;
	const name = `somebody-${people}`;
	const { user } = await workspace.admin('admin.users.create', { team_id: workspace.team, name });
	return withToken(user.id, name);
}

async function withToken(id: string, name: string): Promise<Person> {
	const { token } = await workspace.admin('admin.tokens.create', { user_id: id });
	return { id, name, token, call: client(server.url, token) };
}

const ask = (token: string, method = 'auth.test', args = {}): Promise<Answer> =>
	rawClient(server.url, token)(method, args);

const jwtOf = (user: string, issuedSecondsAgo: number | null = 5) => {
	const now = Math.floor(Date.now() / 1000);
	const jwt = new SignJWT({ team: workspace.team }).setProtectedHeader({ alg: 'HS256' }).setSubject(user);
	if (issuedSecondsAgo !== null) jwt.setIssuedAt(now - issuedSecondsAgo);
	return jwt.setExpirationTime(now + 300).sign(new TextEncoder().encode(JWT_SECRET));
};

/** On a cluster: waits until every gateway has the change. */
const rejectedWith = (token: string, error: string) =>
	eventually(async () => {
		for (let gateway = 0; gateway < 4; gateway += 1) expect(await ask(token)).toMatchObject({ error });
	}, patienceMs());

describe('a deactivated user', () => {
	test('is signed out everywhere at once, and keeps no devices for notifications', async () => {
		const [ada, bob] = [await person(), await person()];
		const { channel } = await ada.call('conversations.create', { name: `team-${people}` });
		await ada.call('conversations.invite', { channel: channel.id, users: bob.id });
		const { ts } = await bob.call('chat.postMessage', { channel: channel.id, text: 'I was here' });
		// Tokens of all workspaces: other tests may use the same server.
		const devices = async () => (await workspace.admin('admin.push.list')).devices as number;
		const devicesBefore = await devices();
		await bob.call('push.devices.add', { platform: 'apns', token: `phone-${people}` });
		expect(await devices()).toBe(devicesBefore + 1);
		const jwt = await jwtOf(bob.id);
		const viaJwt = { ...bob, call: client(server.url, jwt) };
		const sockets = [await connect(bob), await connect(bob), await connect(viaJwt), await connect(bob)];
		const [watching, ticket] = [await connect(ada), await socketUrl(bob)];

		const { user } = await workspace.admin('admin.users.deactivate', { user_id: bob.id });
		expect(user).toMatchObject({ id: bob.id, deleted: true });
		for (const socket of sockets) expect((await socket.closed).code).toBe(SIGNED_OUT);
		expect((await new TestSocket(ticket).closed).code).toBe(SIGNED_OUT);
		await rejectedWith(bob.token, 'token_revoked');
		await rejectedWith(jwt, 'account_inactive');
		await rejectedWith(await jwtOf(bob.id, 0), 'account_inactive');
		expect(await ask(jwt, 'rtm.connect')).toMatchObject({ error: 'account_inactive' });

		await watching.seen((frame) => frame.type === 'user_change' && frame.user.deleted === true);
		expect((await ada.call('users.info', { user: bob.id })).user.deleted).toBe(true);
		expect((await ada.call('users.getPresence', { user: bob.id })).presence).toBe('away');
		const { messages } = await ada.call('conversations.history', { channel: channel.id });
		expect(messages).toMatchObject([{ ts, text: 'I was here', user: bob.id }]);
		expect(await devices()).toBe(devicesBefore);
		for (const [method, args] of [
			['admin.tokens.create', { user_id: bob.id }],
			['conversations.open', { users: bob.id }],
		] as const)
			expect(await ask(method.startsWith('admin') ? adminToken() : ada.token, method, args)).toMatchObject({
				error: 'user_disabled',
			});
		// Deactivating again is harmless, and causes no event.
		await workspace.admin('admin.users.deactivate', { user_id: bob.id });
		const { user: carol } = await workspace.admin('admin.users.create', {
			team_id: workspace.team,
			name: `c${people}`,
		});
		await workspace.admin('admin.users.deactivate', { user_id: carol.id });
		await watching.seen((frame) => frame.type === 'user_change' && frame.user.id === carol.id);
		expect(watching.having({ type: 'user_change' }).filter(({ user }) => user.id === bob.id)).toHaveLength(1);
		watching.close();
	});

	test('gets no direct messages: the senders learn that nobody reads them', async () => {
		const [ada, bob, eve] = [await person(), await person(), await person()];
		const direct = (await ada.call('conversations.open', { users: bob.id })).channel.id;
		const group = (await ada.call('conversations.open', { users: `${bob.id},${eve.id}` })).channel.id;
		const socket = await connect(ada);
		const post = (channel: string) => ask(ada.token, 'chat.postMessage', { channel, text: 'hello' });
		const { ts } = await ada.call('chat.postMessage', { channel: direct, text: 'before' });
		await workspace.admin('admin.users.deactivate', { user_id: bob.id });
		await eventually(
			async () => expect(await post(direct)).toMatchObject({ error: 'user_disabled' }),
			patienceMs(),
		);
		expect(await ask(ada.token, 'chat.meMessage', { channel: direct, text: 'waves' })).toMatchObject({
			error: 'user_disabled',
		});
		// The socket may be at another gateway.
		let id = 7;
		await eventually(async () => {
			id += 1;
			socket.send({ type: 'message', id, channel: direct, text: 'over the socket' });
			expect(await socket.seen((frame) => frame.reply_to === id)).toMatchObject({ ok: false });
		}, patienceMs());
		// Existing messages can be edited, and a group has other members.
		expect(await ask(ada.token, 'chat.update', { channel: direct, ts, text: 'after' })).toMatchObject({
			ok: true,
		});
		expect(await post(group)).toMatchObject({ ok: true });
		const { messages } = await ada.call('conversations.history', { channel: direct });
		expect(messages.at(-1)).toMatchObject({ ts, text: 'after' });
		await workspace.admin('admin.users.reactivate', { user_id: bob.id });
		await eventually(
			async () => expect(await post(direct)).toMatchObject({ ok: true }),
			patienceMs() + 1_000,
		);
		socket.close();
	});

	test('returns only with new tokens, to the same conversations', async () => {
		const ada = await person();
		const { channel } = await ada.call('conversations.create', { name: `back-${people}` });
		const [before, undated] = [await jwtOf(ada.id), await jwtOf(ada.id, null)];
		await workspace.admin('admin.users.deactivate', { user_id: ada.id });
		await rejectedWith(before, 'account_inactive');
		const { user } = await workspace.admin('admin.users.reactivate', { user_id: ada.id });
		expect(user.deleted).toBe(false);
		for (const old of [ada.token, before, undated]) await rejectedWith(old, 'token_revoked');
		// Issued in a later second than the deactivation.
		await eventually(async () => expect((await ask(await jwtOf(ada.id, 0))).ok).toBe(true), 5_000);
		const again = await withToken(ada.id, ada.name);
		expect((await again.call('users.conversations')).channels).toMatchObject([{ id: channel.id }]);
		expect((await again.call('push.devices.list')).devices).toEqual([]);
	});

	test('an unknown user cannot be deactivated', async () => {
		for (const method of ['admin.users.deactivate', 'admin.users.reactivate'])
			expect(await ask(adminToken(), method, { user_id: 'U0000000000' })).toMatchObject({
				error: 'user_not_found',
			});
	});
});

const adminToken = () => 'administrator-of-the-tests';

describe('tokens', () => {
	test('of a user are revoked together, including JWTs, and the sockets close; new ones work', async () => {
		const [ada, bob] = [await person(), await person()];
		const jwt = await jwtOf(ada.id);
		const second = await withToken(ada.id, ada.name);
		const sockets = await Promise.all([connect(ada), connect(second)]);
		const others = await connect(bob);
		expect(await workspace.admin('admin.tokens.revoke', { user_id: ada.id })).toMatchObject({
			revoked: true,
		});
		for (const socket of sockets) expect((await socket.closed).code).toBe(SIGNED_OUT);
		for (const token of [ada.token, second.token, jwt]) await rejectedWith(token, 'token_revoked');
		expect((await ask((await withToken(ada.id, ada.name)).token)).ok).toBe(true);
		await others.settled();
		expect((await ask(bob.token)).ok).toBe(true);
		others.close();
	});

	test('are listed page by page without their values, and revoked by id', async () => {
		const ada = await person();
		for (let more = 0; more < 4; more += 1) await withToken(ada.id, ada.name);
		const { token } = await workspace.admin('admin.tokens.create', { user_id: ada.id, expires_in: 3600 });
		const listed: Answer[] = [];
		let cursor = '';
		do {
			const page = await workspace.admin('admin.tokens.list', {
				user_id: ada.id,
				limit: 4,
				...(cursor ? { cursor } : {}),
			});
			listed.push(...page.tokens);
			cursor = page.response_metadata.next_cursor;
		} while (cursor !== '');
		expect(listed).toHaveLength(6);
		expect(JSON.stringify(listed)).not.toContain(ada.token.slice(5));
		expect(listed.every(({ user_id, is_active }) => user_id === ada.id && is_active)).toBe(true);
		const now = Date.now() / 1000;
		for (const { date_created } of listed) expect(Math.abs(now - date_created)).toBeLessThan(600);
		const [dated, ...others] = listed.filter(({ expires_at }) => expires_at !== undefined) as [Answer];
		expect(others).toEqual([]);
		await workspace.admin('admin.tokens.revoke', { token_id: dated.id });
		await rejectedWith(token, 'token_revoked');
		expect((await ask(ada.token)).ok).toBe(true);
		const { tokens } = await workspace.admin('admin.tokens.list', { user_id: ada.id });
		expect(tokens.filter((one: Answer) => !one.is_active).map(({ id }: Answer) => id)).toEqual([dated.id]);
		for (const args of [
			{ token_id: 'f'.repeat(16) },
			{ token_id: '%' },
			{},
			{ token_id: dated.id, user_id: ada.id },
		])
			expect((await ask(adminToken(), 'admin.tokens.revoke', args)).ok).toBe(false);
	});

	test('that expire are rejected from then on, and their sockets close', async () => {
		const ada = await person();
		const made = await workspace.admin('admin.tokens.create', { user_id: ada.id, expires_in: 2 });
		expect(made.expires_at).toBeGreaterThan(Date.now() / 1000 - 5);
		const brief = { ...ada, call: client(server.url, made.token) };
		const socket = await connect(brief);
		expect((await socket.closed).code).toBe(TOKEN_EXPIRED);
		await eventually(
			async () => expect(await ask(made.token)).toMatchObject({ error: 'token_expired' }),
			10_000,
		);
		expect(await ask(made.token, 'rtm.connect')).toMatchObject({ error: 'invalid_auth' });
		for (const expires_in of [0, -1, 'soon', 1e12])
			expect((await ask(adminToken(), 'admin.tokens.create', { user_id: ada.id, expires_in })).ok).toBe(
				false,
			);
	});

	test('a user can revoke their own token by signing out', async () => {
		const ada = await person();
		const jwt = await jwtOf(ada.id);
		for (const token of [ada.token, jwt]) {
			const socket = await connect({ ...ada, call: client(server.url, token) });
			expect(await ask(token, 'auth.revoke', { test: true })).toMatchObject({ ok: true, revoked: false });
			expect(await ask(token, 'auth.revoke')).toMatchObject({ ok: true, revoked: true });
			expect((await socket.closed).code).toBe(SIGNED_OUT);
			await rejectedWith(token, 'token_revoked');
		}
	});
});
