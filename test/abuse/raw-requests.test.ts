import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendRaw, UPGRADE } from '../support/abuse/raw-http.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Request lines and Host headers that no client library sends: none reveals source code or causes an internal error. */

let server: TestServer;
let ada: Person;

beforeAll(async () => {
	server = await startServer();
	[ada] = (await makeWorkspace(server.url, 1)).people as [Person];
});
afterAll(() => server.stop());

const HOSTS = [
	...['', '[', ']', '%', '%zz', 'a b', 'a:99999', 'a:b', ':', '<x>', '@', '//', 'a/b', 'a?b', 'a#b', '\\'],
	...['[::1', '[::1]', '1.2.3.4.5:', 'a'.repeat(3000), '\x80', '\xff\xfe', 'xn--', 'http://x', 'x, y', '%5b'],
];
const PATHS = [
	...['/', '/rtm', '/rtm?ticket=1', '/rtm?%', '/rtm?ticket=%zz', '/api/auth.test', '/api/rtm.connect', '//'],
	...[
		'*',
		'?',
		'http://[/x',
		'http://x/api/auth.test',
		'/%',
		'/%zz',
		'/\x80\xff',
		'/api/../x',
		'/api/%00',
		'/a#b',
	],
];
/** Texts of Bun's developer page, which no answer may contain. */
const REVEALING = /new URL|\/src\/|\.ts:\d|bun:|node_modules|Internal Server Error/;

for (const host of HOSTS)
	test(`the server answers a Host of ${JSON.stringify(host.slice(0, 20))} without an internal error, on every path`, async () => {
		const requests = PATHS.flatMap((path) =>
			['', UPGRADE].map((headers) => ({ path, headers: `${headers}Authorization: Bearer ${ada.token}\r\n` })),
		);
		const answers = await Promise.all(
			requests.map(async ({ path, headers }) => {
				const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`;
				return { path, ...(await sendRaw(server.url, Buffer.from(text, 'latin1'))) };
			}),
		);
		for (const { path, status, text } of answers) {
			expect({ path, failed: status >= 500 }).toEqual({ path, failed: false });
			expect({ path, reveals: REVEALING.exec(text)?.[0] }).toEqual({ path, reveals: undefined });
		}
	});

test('the server answers an HTTP/1.0 health check without a Host header', async () => {
	expect((await sendRaw(server.url, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
});

test('the last answer before the connection closes has “Connection: close”', async () => {
	for (const path of ['/healthz', '/api/api.test', '/none']) {
		const { text } = await sendRaw(
			server.url,
			`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
		);
		expect([path, /^connection: .*$/im.exec(text)?.[0].toLowerCase()]).toEqual([path, 'connection: close']);
	}
});

test('rtm.connect names the Host header if it cannot build an address from it', async () => {
	const head = `GET /api/rtm.connect HTTP/1.1\r\nHost: a b\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`;
	const { status, text } = await sendRaw(server.url, head);
	expect(status).toBe(200);
	expect(text).toContain('"error":"invalid_arguments"');
	expect(text).toContain('Host');
});
