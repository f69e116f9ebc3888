import { afterAll, beforeAll, expect, test } from 'bun:test';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { type Answer, client, rawClient } from '../support/api.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { ADMIN_TOKEN, startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** Authentication: the server's own tokens, and JWTs that the integrating product signs. */

const SECRET = 'a secret of the integrating product, long enough';

let server: TestServer;
let workspace: Workspace;
let elsewhere: Workspace;
let ada: Person;

beforeAll(async () => {
	server = await startServer({ 'jwt-secret': SECRET });
	workspace = await makeWorkspace(server.url, 2);
	elsewhere = await makeWorkspace(server.url, 1, 'Elsewhere');
	ada = workspace.people[0] as Person;
});
afterAll(() => server.stop());

const key = (secret: string) => new TextEncoder().encode(secret);
const claims = () => ({ sub: ada.id, team: workspace.team });
const signed = (payload: Record<string, unknown>, expires: string | number = '5m', secret = SECRET) =>
	new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).setExpirationTime(expires).sign(key(secret));

const ask = (token: string, method = 'auth.test'): Promise<Answer> => rawClient(server.url, token)(method);

test('a JWT of the integrating product works like a token of the server', async () => {
	const token = await signed(claims());
	expect(await ask(token)).toMatchObject({ ok: true, user_id: ada.id, team_id: workspace.team });
	const socket = await connect({ ...ada, call: client(server.url, token) });
	await workspace.admin('admin.tokens.revoke', { token });
	expect((await socket.closed).code).toBe(4200);
	expect((await ask(token)).error).toBe('token_revoked');
});

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Other spellings of the same bytes: the last of 43 characters carries two bits that decoders drop. */
function otherSpellings(token: string): string[] {
	const last = ALPHABET.indexOf(token.at(-1) as string);
	const same = [...ALPHABET].filter((_, index) => index >> 2 === last >> 2 && index !== last);
	return [...same.map((letter) => token.slice(0, -1) + letter), `${token}=`];
}

test('a revoked JWT stays revoked in every spelling of its signature', async () => {
	const token = await signed(claims());
	const others = otherSpellings(token);
	expect(others).toHaveLength(4);
	for (const other of others) expect(await ask(other)).toMatchObject({ ok: false, error: 'invalid_auth' });
	await workspace.admin('admin.tokens.revoke', { token });
	for (const other of others) expect((await ask(other)).ok).toBe(false);
	expect((await ask(token)).error).toBe('token_revoked');
});

const forged: [string, () => Promise<string> | string, string][] = [
	['expired', () => signed(claims(), Math.floor(Date.now() / 1000) - 10), 'token_expired'],
	[
		'of another key',
		() => signed(claims(), '5m', 'another secret, which is long enough too'),
		'invalid_auth',
	],
	['unsigned (alg: none)', () => new UnsecuredJWT(claims()).setExpirationTime('5m').encode(), 'invalid_auth'],
	[
		'signed with an algorithm that was not configured',
		async () => {
			const { privateKey } = await generateKeyPair('ES256');
			return new SignJWT(claims())
				.setProtectedHeader({ alg: 'ES256' })
				.setExpirationTime('5m')
				.sign(privateKey);
		},
		'invalid_auth',
	],
	[
		'with changed claims',
		async () => {
			const [header, , signature] = (await signed(claims())).split('.');
			const other = { ...claims(), sub: workspace.people[1]?.id, exp: Math.floor(Date.now() / 1000) + 300 };
			return `${header}.${Buffer.from(JSON.stringify(other)).toString('base64url')}.${signature}`;
		},
		'invalid_auth',
	],
	[
		'without an expiry',
		() => new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(key(SECRET)),
		'invalid_auth',
	],
	['of an unknown user', () => signed({ sub: 'U0000000000', team: workspace.team }), 'invalid_auth'],
	['of a user of another workspace', () => signed({ sub: ada.id, team: elsewhere.team }), 'invalid_auth'],
	['without a workspace', () => signed({ sub: ada.id }), 'invalid_auth'],
	['with a sub that is not an id', () => signed({ sub: 'ada', team: workspace.team }), 'invalid_auth'],
];
for (const [what, token, code] of forged) {
	test(`a JWT ${what} gets ${code}, and invalid_auth from rtm.connect`, async () => {
		const made = await token();
		expect(await ask(made)).toMatchObject({ ok: false, error: code });
		expect(await ask(made, 'rtm.connect')).toMatchObject({ ok: false, error: 'invalid_auth' });
	});
}

const unknown: [string, string | null, string][] = [
	['no token', null, 'not_authed'],
	['an empty one', 'Bearer ', 'not_authed'],
	['another scheme', `Basic ${ADMIN_TOKEN}`, 'not_authed'],
	['one that was never made', `Bearer xoxp-${'x'.repeat(43)}`, 'invalid_auth'],
	['one of another form', 'Bearer hunter2', 'invalid_auth'],
];
for (const [what, header, code] of unknown) {
	test(`${what} gets ${code}`, async () => {
		const headers = header === null ? {} : { authorization: header };
		const response = await fetch(`${server.url}/api/auth.test`, { method: 'POST', headers });
		expect(response.status).toBe(200);
		expect(await response.json()).toMatchObject({ ok: false, error: code });
	});
}

test('a revoked token is rejected at once, and other tokens of the user keep working', async () => {
	const { token } = await workspace.admin('admin.tokens.create', { user_id: ada.id });
	expect((await ask(token)).ok).toBe(true);
	await workspace.admin('admin.tokens.revoke', { token });
	expect((await ask(token)).error).toBe('token_revoked');
	expect((await ask(token, 'rtm.connect')).error).toBe('invalid_auth');
	expect((await ask(ada.token)).ok).toBe(true);
	await server.restart();
	expect((await ask(token)).error).toBe('token_revoked');
});

test('users cannot call the administrator’s methods, and the administrator cannot call theirs', async () => {
	const teams = rawClient(server.url, ada.token)('admin.teams.create', { name: 'Mine' });
	expect((await teams).error).toBe('not_allowed_token_type');
	expect((await ask(ADMIN_TOKEN)).error).toBe('not_allowed_token_type');
	expect((await ask(ADMIN_TOKEN, 'rtm.connect')).error).toBe('invalid_auth');
});
