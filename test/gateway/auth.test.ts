import { describe, expect, test } from 'bun:test';
import type { Token, TokenUse } from '../../src/engine/ports/store.ts';
import { TokenUses } from '../../src/gateway/auth/token-uses.ts';
import { isOpaque, newToken, tokenKey } from '../../src/gateway/auth/tokens.ts';
import {
	ADMIN_TOKEN,
	authenticator,
	HandClock,
	random,
	rejectionOf,
	SmallDirectory,
	TEAM,
	userNamed,
} from './support.ts';

const setUp = (more: Parameters<typeof authenticator>[2] = {}) => {
	const clock = new HandClock();
	const directory = new SmallDirectory();
	const token = newToken(false, random);
	const user = userNamed('U123');
	directory.add(user, token);
	return { clock, directory, token, user, auth: authenticator(directory, clock, more) };
};

describe('tokens', () => {
	test('tokens of people and bots differ, and are long', () => {
		expect(newToken(false, random)).toMatch(/^xoxp-[\w-]{43}$/);
		expect(newToken(true, random)).toMatch(/^xoxb-[\w-]{43}$/);
		expect(isOpaque(newToken(true, random))).toBeTrue();
	});
});

describe('who is asking', () => {
	test('the owner of a token is recognised', async () => {
		const { auth, token, user } = setUp();
		expect(await auth.identify(token)).toMatchObject({ kind: 'user', user, team: TEAM });
	});

	test('the administrator is recognised', async () => {
		const { auth } = setUp();
		expect(await auth.identify(ADMIN_TOKEN)).toEqual({ kind: 'admin' });
	});

	test('a missing or unknown token is rejected', async () => {
		const { auth, token } = setUp();
		expect(await rejectionOf(() => auth.identify(null))).toBe('not_authed');
		expect(await rejectionOf(() => auth.identify(''))).toBe('not_authed');
		const wrong = [
			`${token}x`,
			token.slice(0, -1),
			newToken(false, random),
			'x',
			`${ADMIN_TOKEN}x`,
			'a.b.c',
			'\0',
		];
		for (const one of wrong) expect(await rejectionOf(() => auth.identify(one))).toBe('invalid_auth');
	});

	test('a text that cannot be a token is not looked up', async () => {
		const { auth, directory } = setUp();
		await rejectionOf(() => auth.identify('garbage'));
		expect(directory.asked).toBe(0);
	});

	test('a deactivated user is rejected', async () => {
		const { auth, directory, token, user } = setUp();
		directory.add({ ...user, deleted: true });
		expect(await rejectionOf(() => auth.identify(token))).toBe('account_inactive');
	});

	test('a token created after its user was signed out works, whichever clock stamped it', async () => {
		const { auth, clock, directory, token, user } = setUp();
		directory.add({ ...user, signedOutTs: (clock.now() + 60_000) * 1000 });
		const caller = await auth.identify(token);
		expect(caller).toMatchObject({ kind: 'user', user: { id: user.id } });
		if (caller.kind !== 'user') return;
		const admission = { user: user.id, tokenKey: caller.tokenKey, issuedAt: caller.issuedAt };
		expect(await auth.isStillValid(admission)).toBeTrue();
		directory.keep(token, user, clock.now());
		expect(await auth.isStillValid(admission)).toBeFalse();
	});

	test('a token whose user is in another workspace is rejected', async () => {
		const { auth, directory, token, user } = setUp();
		directory.add({ ...user, team: 'T0000000002' });
		expect(await rejectionOf(() => auth.identify(token))).toBe('invalid_auth');
	});
});

describe('what the gateway caches', () => {
	test('repeated calls do not reach the store', async () => {
		const { auth, directory, token } = setUp();
		await auth.identify(token);
		const asked = directory.asked;
		for (let index = 0; index < 100; index += 1) await auth.identify(token);
		expect(directory.asked).toBe(asked);
	});

	test('a revoked token stops working at once', async () => {
		const { auth, clock, directory, token, user } = setUp();
		const caller = await auth.identify(token);
		directory.keep(token, user, clock.now());
		auth.forget(caller.kind === 'user' ? caller.tokenKey : '');
		expect(await rejectionOf(() => auth.identify(token))).toBe('token_revoked');
	});

	test('a lookup that is under way during a revocation is not cached', async () => {
		const { auth, clock, directory, token, user } = setUp();
		const underWay = Promise.resolve(auth.identify(token));
		directory.keep(token, user, clock.now());
		auth.forget('any');
		await underWay.catch(() => {});
		expect(await rejectionOf(() => auth.identify(token))).toBe('token_revoked');
	});

	test('while the store is unavailable, cached tokens work, unless their revocation was received', async () => {
		const { auth, clock, directory, token } = setUp();
		const caller = await auth.identify(token);
		directory.isDown = true;
		clock.pass(30 * 60_000);
		auth.sweep();
		expect(await auth.identify(token)).toEqual(caller);
		expect(await rejectionOf(() => auth.identify(newToken(false, random)))).toBe('service_unavailable');
		clock.pass(31 * 60_000);
		expect(await rejectionOf(() => auth.identify(token))).toBe('service_unavailable');
		directory.isDown = false;
		await auth.identify(token);
		directory.isDown = true;
		auth.forget(caller.kind === 'user' ? caller.tokenKey : '');
		expect(await rejectionOf(() => auth.identify(token))).toBe('service_unavailable');
	});

	test('a revocation by another process takes effect within a minute', async () => {
		const { auth, clock, directory, token, user } = setUp();
		await auth.identify(token);
		directory.keep(token, user, clock.now());
		clock.pass(60_000);
		expect(await rejectionOf(() => auth.identify(token))).toBe('token_revoked');
	});

	test('the cache is bounded', async () => {
		const { auth, directory, token, user } = setUp({ capacity: 10 });
		await auth.identify(token);
		for (let index = 0; index < 20; index += 1) {
			const other = newToken(false, random);
			directory.keep(other, user);
			await auth.identify(other);
		}
		const asked = directory.asked;
		await auth.identify(token);
		expect(directory.asked).toBeGreaterThan(asked);
	});
});

test('an empty administrator’s token is not accepted', () => {
	expect(() => authenticator(new SmallDirectory(), new HandClock(), { adminToken: '' })).toThrow(
		'token is empty',
	);
});

describe('when a token was last used', () => {
	test('the last use is recorded when the token is looked up, together with others, and at most every five minutes', async () => {
		const { clock, directory, token } = setUp();
		const written: TokenUse[][] = [];
		const uses = new TokenUses({ noteTokenUse: async (some) => void written.push([...some]) });
		const auth = authenticator(directory, clock, { uses });
		const another = newToken(false, random);
		directory.add(userNamed('U124'), another);
		for (const one of [token, another, token]) await auth.identify(one);
		await uses.flush();
		await uses.flush();
		const [first, second] = [token, another].map((one) => ({ hash: tokenKey(one), at: clock.ms * 1000 }));
		expect(written).toEqual([[first, second] as TokenUse[]]);
		const known = directory.kept.get(tokenKey(token)) as Token;
		directory.kept.set(known.hash, { ...known, lastUsedTs: clock.ms * 1000 });
		clock.pass(4 * 60_000);
		await auth.identify(token);
		await uses.flush();
		expect(written).toHaveLength(1);
		clock.pass(2 * 60_000);
		await auth.identify(token);
		await uses.flush();
		expect(written[1]).toEqual([{ hash: tokenKey(token), at: clock.ms * 1000 }]);
	});
});
