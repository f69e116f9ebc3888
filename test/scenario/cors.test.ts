import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ADMIN_TOKEN, startServer, type TestServer } from '../support/server.ts';

/** Pages of other origins: preflight requests, and the headers that let a page read an answer. */

const FRIEND = 'https://app.example.org';
const STRANGER = 'https://evil.example.org';

let server: TestServer;

const preflight = (origin: string): Promise<Response> =>
	fetch(`${server.url}/api/auth.test`, {
		method: 'OPTIONS',
		headers: {
			origin,
			'access-control-request-method': 'POST',
			'access-control-request-headers': 'authorization,content-type',
		},
	});

const call = (origin: string, token: string = ADMIN_TOKEN): Promise<Response> =>
	fetch(`${server.url}/api/admin.teams.create`, {
		method: 'POST',
		headers: { origin, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
		body: JSON.stringify({ name: 'Acme' }),
	});

const allowed = (response: Response): string | null => response.headers.get('access-control-allow-origin');

describe('with origins named', () => {
	beforeAll(async () => {
		server = await startServer({ 'allowed-origins': `${FRIEND}, https://other.example.org` });
	});
	afterAll(() => server.stop());

	test('a page of a named origin may send a token and JSON, and read the answer', async () => {
		const asked = await preflight(FRIEND);
		expect([asked.status, allowed(asked)]).toEqual([204, FRIEND]);
		expect(asked.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
		expect(asked.headers.get('access-control-allow-methods')).toContain('POST');
		const answered = await call(FRIEND);
		expect(allowed(answered)).toBe(FRIEND);
		expect(await answered.json()).toMatchObject({ ok: true });
	});

	test('a page of a named origin may read errors as well', async () => {
		const rejected = await call(FRIEND, 'xoxp-nobody');
		expect(allowed(rejected)).toBe(FRIEND);
		expect(await rejected.json()).toMatchObject({ ok: false, error: 'invalid_auth' });
	});

	test('any other origin gets no CORS headers, and caches get Vary', async () => {
		for (const response of [await preflight(STRANGER), await call(STRANGER)]) {
			expect(allowed(response)).toBeNull();
			expect(response.headers.get('vary')).toBe('origin');
		}
	});

	test('no page is allowed with cookies', async () => {
		expect((await preflight(FRIEND)).headers.get('access-control-allow-credentials')).toBeNull();
	});
});

describe('by default', () => {
	beforeAll(async () => {
		server = await startServer();
	});
	afterAll(() => server.stop());

	test('no page of another origin may read anything', async () => {
		for (const response of [await preflight(FRIEND), await call(FRIEND)])
			expect(allowed(response)).toBeNull();
	});
});
