import { beforeEach, describe, expect, test } from 'bun:test';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import { AnonymousLimits } from '../../src/gateway/anonymous-limits.ts';
import { newToken } from '../../src/gateway/auth/tokens.ts';
import { FairGate } from '../../src/gateway/fair-gate.ts';
import { handle } from '../../src/gateway/http/server.ts';
import { Limits, type Rates } from '../../src/gateway/limits.ts';
import { MemoryBudget } from '../../src/gateway/memory-budget.ts';
import type { Services } from '../../src/gateway/services.ts';
import { Rejection } from '../../src/model/errors.ts';
import { ADMIN_TOKEN, authenticator, HandClock, random, SmallDirectory, TEAM, userNamed } from './support.ts';

/** The sequence that every call goes through, with only the services that it needs itself. */

const RATES: Rates = {
	requests: { perSecond: 1, burst: 3 },
	posts: { perSecond: 1, burst: 3 },
	connects: { perSecond: 1, burst: 3, jitterSeconds: 5 },
};
const TOKEN = newToken(false, random);
const CHANNEL = 'C0000000001';

let clock: HandClock;
let directory: SmallDirectory;
let submit: () => Promise<never>;
let logged: unknown[];
let observed: unknown[];
let services: Services;

beforeEach(() => {
	clock = new HandClock();
	directory = new SmallDirectory().add(userNamed('U123'), TOKEN);
	logged = [];
	observed = [];
	submit = async () => {
		throw new Rejection('is_archived');
	};
	const page = () => new Response('page');
	services = {
		auth: authenticator(directory, clock),
		limits: new Limits(RATES, clock.now, () => 0.5),
		anonymousLimits: new AnonymousLimits({ perSecond: 1, burst: 5 }, clock.now),
		bodyMemory: new MemoryBudget({ totalBytes: 1 << 20, shareBytes: 1 << 18, nowMs: clock.now }),
		answerMemory: new MemoryBudget({ totalBytes: 1 << 20, shareBytes: 1 << 18, nowMs: clock.now }),
		largeReads: new FairGate(1),
		tickets: new MemoryTickets(clock.now, random),
		directory: {
			team: async () => ({ id: TEAM, name: 'Acme', domain: 'acme', createdTs: 0 }),
			users: (ids: readonly string[]) => directory.users(ids),
		},
		partners: { check: async () => undefined },
		requests: { submit: () => submit() },
		views: {
			available: async () => undefined,
			since: async (_: string, position = 0) => position,
		},
		operations: {
			health: page,
			ready: page,
			metrics: page,
			observe: (method: string, outcome: string) => observed.push([method, outcome]),
			failed: (method: string, error: unknown) => logged.push([method, error]),
		},
		// Whatever else a method reached for would be undefined, and fail the test.
	} as unknown as Services;
});

async function call(method: string, args: Record<string, string> = {}, token: string | null = TOKEN) {
	const body = new URLSearchParams(args);
	const request = new Request(`http://localhost:8080/api/${method}`, {
		method: 'POST',
		body,
		headers: {
			host: 'localhost:8080',
			'content-length': String(`${body}`.length),
			...(token === null ? {} : { authorization: `Bearer ${token}` }),
		},
	});
	const response = await handle(request, services);
	return { response, body: (await response.json()) as Record<string, unknown> };
}

describe('the envelope', () => {
	test('of an answer', async () => {
		const { response, body } = await call('auth.test');
		expect(response.status).toBe(200);
		expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
		expect(body).toMatchObject({ ok: true, team: 'Acme', user_id: 'U123', url: 'http://localhost:8080/' });
		expect(observed).toEqual([['auth.test', 'ok']]);
	});

	test('of an error: status 200, the code, and the argument’s name', async () => {
		const { response, body } = await call('conversations.info', { channel: 'x' });
		expect(response.status).toBe(200);
		expect(body.ok).toBeFalse();
		expect(body.error).toBe('channel_not_found');
		expect(body.response_metadata).toEqual({ messages: ['[ERROR] channel: expected a conversation id'] });
	});

	test('of an error without an argument', async () => {
		const { body } = await call('chat.postMessage', { channel: CHANNEL, text: 'x' });
		expect(body).toMatchObject({ ok: false, error: 'is_archived' });
		expect(JSON.stringify(body.response_metadata)).toContain('[ERROR] channel: ');
	});

	test('of a rate limit: 429 and whole seconds', async () => {
		for (let index = 0; index < 3; index += 1) await call('auth.test');
		const { response, body } = await call('auth.test');
		expect(response.status).toBe(429);
		expect(response.headers.get('retry-after')).toBe('1');
		expect(body).toEqual({ ok: false, error: 'ratelimited' });
		// Connecting has its own limit, and rejected clients are spread over time.
		for (let index = 0; index < 3; index += 1) expect((await call('rtm.connect')).body.ok).toBeTrue();
		expect((await call('rtm.connect')).response.headers.get('retry-after')).toBe('4');
	});

	test('of an unavailable service: 503', async () => {
		submit = async () => {
			throw new Rejection('service_unavailable');
		};
		const { response, body } = await call('chat.postMessage', { channel: CHANNEL, text: 'x' });
		expect(response.status).toBe(503);
		expect(response.headers.get('retry-after')).toBe('1');
		expect(body).toEqual({ ok: false, error: 'service_unavailable' });
	});

	test('an internal error is answered, and logged without the content of the request', async () => {
		submit = async () => {
			throw new TypeError('broken');
		};
		const { response, body } = await call('chat.postMessage', { channel: CHANNEL, text: 'a private text' });
		expect(response.status).toBe(200);
		expect(body).toEqual({ ok: false, error: 'internal_error' });
		expect(logged).toEqual([['chat.postMessage', new TypeError('broken')]]);
		expect(observed).toEqual([['chat.postMessage', 'internal_error']]);
	});
});

describe('who may call what', () => {
	test('a token in the arguments works; the header wins', async () => {
		expect((await call('auth.test', { token: TOKEN }, null)).body.ok).toBeTrue();
		expect((await call('auth.test', { token: 'wrong' })).body.ok).toBeTrue();
		expect((await call('auth.test', { token: TOKEN }, 'wrong')).body.error).toBe('invalid_auth');
		expect((await call('auth.test', {}, null)).body.error).toBe('not_authed');
	});

	test('each kind of token has its own methods', async () => {
		expect((await call('admin.teams.create', { name: 'x' })).body.error).toBe('not_allowed_token_type');
		expect((await call('auth.test', {}, ADMIN_TOKEN)).body.error).toBe('not_allowed_token_type');
	});

	test('rtm.connect returns only codes that Slack’s client understands', async () => {
		directory.keep(TOKEN, userNamed('U123'), 1);
		expect((await call('auth.test')).body.error).toBe('token_revoked');
		for (const method of ['rtm.connect', 'rtm.start']) {
			expect((await call(method)).body.error).toBe('invalid_auth');
			expect((await call(method, {}, ADMIN_TOKEN)).body.error).toBe('invalid_auth');
			expect((await call(method, {}, null)).body.error).toBe('not_authed');
		}
	});

	test('an internal error at rtm.connect is one that Slack’s client retries', async () => {
		Object.assign(services.directory, { team: () => Promise.reject(new Error('broken')) });
		const { response, body } = await call('rtm.connect');
		expect(response.status).toBe(503);
		expect(body.error).toBe('service_unavailable');
		expect(logged).toHaveLength(1);
	});
});

describe('routes', () => {
	test('unknown methods', async () => {
		for (const method of ['foo.bar', '', 'constructor', 'auth.test/', 'AUTH.TEST'])
			expect((await call(method)).body).toEqual({ ok: false, error: 'unknown_method' });
		expect(observed).toContainEqual(['unknown', 'unknown_method']);
	});

	test('pages for operators', async () => {
		for (const path of ['/healthz', '/readyz', '/metrics'])
			expect(await (await handle(new Request(`http://localhost${path}`), services)).text()).toBe('page');
	});

	test('other paths are not found', async () => {
		const response = await handle(new Request('http://localhost/elsewhere'), services);
		expect(response.status).toBe(404);
		expect(await response.json()).toMatchObject({ ok: false });
	});

	test('rtm.connect with a stalled body returns a retryable error', async () => {
		const request = new Request('http://localhost:8080/api/rtm.connect', {
			method: 'POST',
			body: new ReadableStream(),
			headers: { 'content-length': '10', authorization: `Bearer ${TOKEN}` },
		});
		const answering = handle(request, services);
		// The time of a body starts only when its user is known.
		while (directory.asked < 2) await Bun.sleep(1);
		await Bun.sleep(1);
		clock.pass(31_000);
		services.bodyMemory.sweep();
		expect((await answering).status).toBe(503);
	});

	test('rtm.connect returns an address that admits its caller', async () => {
		const { body } = await call('rtm.connect', { since: '1717200000123456', counts: '1' });
		expect(body).toMatchObject({ self: { id: 'U123' }, team: { id: TEAM, name: 'Acme', domain: 'acme' } });
		const url = new URL(String(body.url));
		expect(url.href).toStartWith('ws://localhost:8080/rtm/');
		expect(await services.tickets.redeem(url.pathname.slice('/rtm/'.length))).toMatchObject({
			user: { id: 'U123' },
			options: { since: 1717200000123456, counts: true },
		});
	});
});
