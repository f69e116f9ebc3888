import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { type JwtVerifier, jwtVerifier } from '../../src/gateway/auth/jwt.ts';
import { hashToken, tokenKey } from '../../src/gateway/auth/tokens.ts';
import { authenticator, HandClock, rejectionOf, SmallDirectory, TEAM, userNamed } from './support.ts';

const SECRET = 'a secret of the integrating product, long enough';
const CLAIMS = { sub: 'U123', team: TEAM };
const clock = new HandClock();
const seconds = () => Math.floor(clock.now() / 1000);

const sign = (claims: JWTPayload, secret = SECRET, alg = 'HS256') =>
	new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));

const decoded = (token: string): Buffer => Buffer.from(token.split('.')[2] as string, 'base64url');

async function mustVerify(options: Parameters<typeof jwtVerifier>[0]): Promise<JwtVerifier> {
	const verifier = await jwtVerifier(options, clock.now);
	if (!verifier) throw new Error('no verifier');
	return verifier;
}

describe('a shared secret', () => {
	test('a valid token has user, workspace and expiry', async () => {
		const verifier = await mustVerify({ secret: SECRET });
		const exp = seconds() + 60;
		expect(await verifier.verify(await sign({ ...CLAIMS, exp }))).toEqual({
			user: 'U123',
			team: TEAM,
			expiresAt: exp * 1000,
			issuedAt: 0,
		});
	});

	test('an expired token has its own error', async () => {
		const verifier = await mustVerify({ secret: SECRET });
		const token = await sign({ ...CLAIMS, exp: seconds() - 1 });
		expect(await rejectionOf(() => verifier.verify(token))).toBe('token_expired');
	});

	test('forged tokens are rejected', async () => {
		const verifier = await mustVerify({ secret: SECRET });
		const exp = seconds() + 60;
		const unsigned = new UnsecuredJWT({ ...CLAIMS, exp }).encode();
		const good = await sign({ ...CLAIMS, exp });
		const [header = '', , signature = ''] = good.split('.');
		const otherClaims = Buffer.from(JSON.stringify({ ...CLAIMS, sub: 'U999', exp })).toString('base64url');
		const forged = [
			unsigned,
			`${unsigned}x`,
			await sign({ ...CLAIMS, exp }, `${SECRET}!`),
			await sign({ ...CLAIMS, exp }, SECRET.repeat(2), 'HS512'),
			await sign({ ...CLAIMS, exp }, SECRET, 'HS384'),
			`${header}.${otherClaims}.${signature}`,
			good.slice(0, -2),
			'a.b.c',
		];
		for (const token of forged) expect(await rejectionOf(() => verifier.verify(token))).toBe('invalid_auth');
	});

	test('missing and malformed claims are rejected', async () => {
		const verifier = await mustVerify({ secret: SECRET });
		const exp = seconds() + 60;
		const wrong: JWTPayload[] = [
			CLAIMS,
			{ sub: 'U123', exp },
			{ team: TEAM, exp },
			{ sub: 'ann', team: TEAM, exp },
			{ sub: 'U123', team: 'acme', exp },
			{ sub: 'U123', team: [TEAM], exp },
			{ ...CLAIMS, exp, nbf: seconds() + 30 },
		];
		for (const claims of wrong) {
			const token = await sign(claims);
			expect(await rejectionOf(() => verifier.verify(token))).toBe('invalid_auth');
		}
	});

	test('only one spelling of each part is accepted', async () => {
		const verifier = await mustVerify({ secret: SECRET });
		const token = await sign({ ...CLAIMS, exp: seconds() + 60 });
		await verifier.verify(token);
		const last = token.at(-1) as string;
		const same = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
			(letter) => letter !== last && decoded(token.slice(0, -1) + letter).equals(decoded(token)),
		);
		expect(same).toHaveLength(3);
		for (const letter of same)
			expect(await rejectionOf(() => verifier.verify(token.slice(0, -1) + letter))).toBe('invalid_auth');
	});

	test('audience and issuer are checked if they are configured', async () => {
		const exp = seconds() + 60;
		const verifier = await mustVerify({ secret: SECRET, audience: 'tidemark', issuer: 'https://id.example' });
		const right = { ...CLAIMS, exp, aud: 'tidemark', iss: 'https://id.example' };
		expect(await verifier.verify(await sign(right))).toMatchObject({ user: 'U123' });
		expect(await verifier.verify(await sign({ ...right, aud: ['billing', 'tidemark'] }))).toBeDefined();
		const { aud: _, ...nobodys } = right;
		const { iss: __, ...unissued } = right;
		for (const wrong of [{ ...right, aud: 'billing' }, { ...right, iss: 'https://other' }, nobodys, unissued])
			expect(await rejectionOf(async () => verifier.verify(await sign(wrong)))).toBe('invalid_auth');
	});

	test('a short secret is rejected as a setting', async () => {
		await expect(jwtVerifier({ secret: 'short' }, clock.now)).rejects.toThrow(
			'the secret must have at least',
		);
	});
});

describe('a key set', () => {
	let folder = '';
	let file = '';
	let keys: CryptoKeyPair;
	let jwks = '';

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'tidemark-jwks-'));
		file = join(folder, 'jwks.json');
		keys = await generateKeyPair('ES256', { extractable: true });
		jwks = JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' }] });
		await writeFile(file, jwks);
	});
	afterAll(() => rm(folder, { recursive: true }));

	const signed = (key: CryptoKey, kid = 'one') =>
		new SignJWT({ ...CLAIMS, exp: seconds() + 60 }).setProtectedHeader({ alg: 'ES256', kid }).sign(key);

	test('keys are read from a file', async () => {
		const verifier = await mustVerify({ jwks: file });
		expect(await verifier.verify(await signed(keys.privateKey))).toMatchObject({ user: 'U123', team: TEAM });
	});

	test('another key, an unknown key id, and an HMAC made with the public key are rejected', async () => {
		const verifier = await mustVerify({ jwks: file });
		const other = await generateKeyPair('ES256');
		const confused = await sign({ ...CLAIMS, exp: seconds() + 60 }, await exportSPKI(keys.publicKey));
		for (const token of [await signed(other.privateKey), await signed(keys.privateKey, 'two'), confused])
			expect(await rejectionOf(() => verifier.verify(token))).toBe('invalid_auth');
	});

	test('keys are fetched from a URL', async () => {
		const server = Bun.serve({ port: 0, fetch: () => new Response(jwks) });
		const verifier = await mustVerify({ jwks: `http://localhost:${server.port}/jwks.json` });
		expect(await verifier.verify(await signed(keys.privateKey))).toMatchObject({ user: 'U123' });
		await server.stop(true);
	});

	test('keys that cannot be fetched are the server’s error, not the token’s', async () => {
		const server = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 500 }) });
		const verifier = await mustVerify({ jwks: `http://localhost:${server.port}/jwks.json` });
		const token = await signed(keys.privateKey);
		expect(await rejectionOf(() => verifier.verify(token))).toBe('service_unavailable');
		await server.stop(true);
	});
});

describe('a JWT as a token', () => {
	const setUp = async () => {
		const directory = new SmallDirectory().add(userNamed('U123'));
		const own = new HandClock();
		const jwt = await jwtVerifier({ secret: SECRET }, own.now);
		const token = await sign({ ...CLAIMS, exp: Math.floor(own.now() / 1000) + 30 });
		return { directory, clock: own, token, auth: authenticator(directory, own, { jwt }) };
	};

	test('identifies a user of the workspace until it expires', async () => {
		const { auth, clock: own, token } = await setUp();
		expect(await auth.identify(token)).toMatchObject({ kind: 'user', user: { id: 'U123' } });
		own.pass(29_000);
		expect(await auth.identify(token)).toMatchObject({ kind: 'user' });
		own.pass(2_000);
		expect(await rejectionOf(() => auth.identify(token))).toBe('token_expired');
	});

	test('of an unknown user is rejected', async () => {
		const { auth, directory, token } = await setUp();
		directory.people.clear();
		expect(await rejectionOf(() => auth.identify(token))).toBe('invalid_auth');
	});

	test('can be revoked', async () => {
		const { auth, directory, token } = await setUp();
		await auth.identify(token);
		expect(await auth.userOfToken(token)).toMatchObject({ user: 'U123', team: TEAM });
		directory.keep(token, userNamed('U123'), 1);
		auth.forget(tokenKey(token));
		expect(await rejectionOf(() => auth.identify(token))).toBe('token_revoked');
	});

	test('issued before its user was signed out is revoked; one issued later is not', async () => {
		const { auth, clock: own, directory } = await setUp();
		const second = Math.floor(own.now() / 1000);
		const issued = (iat: number) => sign({ ...CLAIMS, iat, exp: second + 30 });
		directory.add(userNamed('U123', { signedOutTs: own.now() * 1000 }));
		expect(await rejectionOf(async () => auth.identify(await issued(second - 1)))).toBe('token_revoked');
		const held = { user: 'U123', tokenKey: 'not stored', issuedAt: (second - 1) * 1000 };
		expect(await auth.isStillValid(held)).toBeFalse();
		expect(await auth.identify(await issued(second + 1))).toMatchObject({ kind: 'user' });
		expect(await auth.isStillValid({ ...held, issuedAt: (second + 1) * 1000 })).toBeTrue();
	});

	test('that was revoked stays revoked under another valid signature of the same claims', async () => {
		const keys = await generateKeyPair('ES256', { extractable: true });
		const folder = await mkdtemp(join(tmpdir(), 'tidemark-jwks-'));
		const file = join(folder, 'jwks.json');
		await writeFile(
			file,
			JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' }] }),
		);
		const directory = new SmallDirectory().add(userNamed('U123'));
		const own = new HandClock();
		const auth = authenticator(directory, own, { jwt: await jwtVerifier({ jwks: file }, own.now) });
		const claims = { ...CLAIMS, exp: Math.floor(own.now() / 1000) + 30 };
		const [one, other] = await Promise.all(
			[1, 2].map(() =>
				new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(keys.privateKey),
			),
		);
		expect(one).not.toBe(other);
		await auth.identify(other as string);
		directory.keep(one as string, userNamed('U123'), 1);
		auth.forget(tokenKey(one as string));
		expect(await rejectionOf(() => auth.identify(other as string))).toBe('token_revoked');
		await rm(folder, { recursive: true });
	});

	test('that an older version revoked by its whole text stays revoked', async () => {
		const { auth, directory, token } = await setUp();
		const hash = hashToken(token);
		directory.kept.set(hash, { hash, user: 'U123', team: TEAM, createdTs: 1, revokedTs: 1, expiresTs: null });
		expect(await rejectionOf(() => auth.identify(token))).toBe('token_revoked');
	});

	test('is rejected if JWTs are not configured', async () => {
		const { directory, clock: own, token } = await setUp();
		expect(await rejectionOf(() => authenticator(directory, own).identify(token))).toBe('invalid_auth');
	});
});
