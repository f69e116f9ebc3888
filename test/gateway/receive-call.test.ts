import { beforeEach, expect, test } from 'bun:test';
import { SignJWT } from 'jose';
import { AnonymousLimits } from '../../src/gateway/anonymous-limits.ts';
import { jwtVerifier } from '../../src/gateway/auth/jwt.ts';
import { newToken } from '../../src/gateway/auth/tokens.ts';
import { IncomingBody } from '../../src/gateway/http/incoming-body.ts';
import { METHODS } from '../../src/gateway/http/methods/index.ts';
import { receiveCall } from '../../src/gateway/http/receive-call.ts';
import { Limits, type Rate } from '../../src/gateway/limits.ts';
import { MemoryBudget } from '../../src/gateway/memory-budget.ts';
import type { Services } from '../../src/gateway/services.ts';
import { authenticator, HandClock, random, rejectionOf, SmallDirectory, TEAM, userNamed } from './support.ts';

/** Who is charged for a rejected request and for the memory of its body, the user or the address: several users behind one address. */

const ADDRESS = '192.0.2.1';
const TOKEN = newToken(false, random);
const SECRET = 'a secret that has thirty-two bytes or more';
const BURST = 5;
const SHARE = 1_000;
const NO_LIMIT: Rate = { perSecond: 0, burst: 0 };

let clock: HandClock;
let directory: SmallDirectory;
let services: Services;

beforeEach(async () => {
	clock = new HandClock();
	directory = new SmallDirectory().add(userNamed('U123'), TOKEN);
	services = {
		auth: authenticator(directory, clock, { jwt: await jwtVerifier({ secret: SECRET }, clock.now) }),
		limits: new Limits({ requests: NO_LIMIT, posts: NO_LIMIT, connects: NO_LIMIT }, clock.now, () => 0),
		anonymousLimits: new AnonymousLimits({ perSecond: 0.001, burst: BURST }, clock.now),
		bodyMemory: new MemoryBudget({ totalBytes: 4 * SHARE, shareBytes: SHARE, nowMs: clock.now }),
	} as unknown as Services;
});

async function send(token: string, text = 'x') {
	const body = new URLSearchParams({ text });
	const request = new Request('http://localhost/api/auth.test', {
		method: 'POST',
		body,
		headers: { authorization: `Bearer ${token}`, 'content-length': String(`${body}`.length) },
	});
	const incoming = {
		request,
		query: '',
		body: new IncomingBody(request, services.bodyMemory),
		client: { address: ADDRESS },
	};
	const method = METHODS['auth.test'];
	if (!method) throw new Error('there is no auth.test');
	return receiveCall(method, incoming, services);
}

const lockOut = async () => {
	for (let index = 0; index < BURST; index += 1) await rejectionOf(() => send(`xoxp-nobody-${index}`));
};

test('a recently known user is served behind a locked-out address; an unknown one is not', async () => {
	await send(TOKEN);
	await lockOut();
	clock.pass(61_000);
	expect((await send(TOKEN)).caller).toMatchObject({ user: { id: 'U123' } });
	expect(await rejectionOf(() => send(newToken(false, random)))).toBe('ratelimited');
	// A user who was known only long ago is unknown.
	clock.pass(61 * 60_000);
	await lockOut();
	expect(await rejectionOf(() => send(TOKEN))).toBe('ratelimited');
});

test('the body of a recently known user counts for the user, not for the address', async () => {
	await send(TOKEN);
	clock.pass(61_000);
	services.bodyMemory.hold(ADDRESS, SHARE, 60_000, () => undefined);
	expect((await send(TOKEN)).caller).toMatchObject({ user: { id: 'U123' } });
	expect(await rejectionOf(() => send(newToken(false, random)))).toBe('ratelimited');
});

test('expired JWTs do not lock out their address; forged ones do', async () => {
	const sign = (secret: string, seconds: number) =>
		new SignJWT({ sub: 'U123', team: TEAM, exp: Math.floor(clock.now() / 1000) + seconds })
			.setProtectedHeader({ alg: 'HS256' })
			.sign(new TextEncoder().encode(secret));
	const expired = await sign(SECRET, -10);
	for (let index = 0; index < 2 * BURST; index += 1)
		expect(await rejectionOf(() => send(expired))).toBe('token_expired');
	expect((await send(TOKEN)).caller).toMatchObject({ user: { id: 'U123' } });
	const forged = await sign(`${SECRET}, another one`, -10);
	for (let index = 0; index < BURST; index += 1)
		expect(await rejectionOf(() => send(forged))).toBe('invalid_auth');
	expect(await rejectionOf(() => send(forged))).toBe('ratelimited');
});

test('a body waits while its token is looked up, and its own time starts afterwards', async () => {
	const { promise: answer, resolve } = Promise.withResolvers<void>();
	const users = directory.users.bind(directory);
	directory.users = async (ids) => {
		await answer;
		return users(ids);
	};
	const sending = send(TOKEN);
	clock.pass(120_000);
	services.bodyMemory.sweep();
	expect(services.bodyMemory.heldBytes).toBeGreaterThan(0);
	resolve();
	expect((await sending).raw.get('text')).toBe('x');
	expect(services.bodyMemory.heldBytes).toBe(0);
});
