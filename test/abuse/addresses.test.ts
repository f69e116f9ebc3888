import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendRaw, UPGRADE } from '../support/abuse/raw-http.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { socketUrl, TestSocket } from '../support/socket.ts';

/**
 * What one client address may do without a valid token. A proxy names the addresses in X-Forwarded-For. Other addresses
 * are not affected.
 */

const PER_SECOND = 2;
const FLOOD = PER_SECOND * 10 + 30;

let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer({
		'anonymous-per-second': String(PER_SECOND),
		'sockets-per-address': '3',
		'trusted-proxies': '127.0.0.0/8,::1',
	});
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
});
afterAll(() => server.stop());

const ask = (token: string | null, address: string): Promise<Response> =>
	fetch(`${server.url}/api/auth.test`, {
		headers: { 'x-forwarded-for': address, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
	});

const statuses = (responses: readonly { readonly status: number }[]): number[] =>
	[...new Set(responses.map(({ status }) => status))].sort();

test('unknown tokens are rejected, then rate-limited; a valid token from the same address is still served', async () => {
	expect((await ask(ada.token, '192.0.2.1')).status).toBe(200);
	const answers: Response[] = [];
	for (let index = 0; index < FLOOD; index += 1) answers.push(await ask(`xoxp-nobody-${index}`, '192.0.2.1'));
	expect(statuses(answers)).toEqual([200, 429]);
	const limited = answers.find(({ status }) => status === 429);
	expect(limited?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
	expect(await (await ask(ada.token, '192.0.2.1')).json()).toMatchObject({ ok: true });
	expect(await (await ask(grace.token, '192.0.2.2')).json()).toMatchObject({ ok: true });
});

test('calls without a token are rate-limited too', async () => {
	const answers: Response[] = [];
	for (let index = 0; index < FLOOD; index += 1) answers.push(await ask(null, '192.0.2.3'));
	expect(statuses(answers)).toEqual([200, 429]);
});

test('too many unknown tickets are rejected at the upgrade; a valid ticket never is', async () => {
	const upgrade = (ticket: string, address: string) =>
		sendRaw(
			server.url,
			`GET /rtm/${ticket} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\n${UPGRADE}\r\n`,
		);
	const answers: { readonly status: number }[] = [];
	for (let index = 0; index < FLOOD; index += 1) answers.push(await upgrade(`no-${index}`, '192.0.2.4'));
	expect(statuses(answers)).toEqual([101, 429]);
	const ticket = new URL(await socketUrl(grace)).pathname.slice('/rtm/'.length);
	expect((await upgrade(ticket, '192.0.2.4')).status).toBe(101);
});

test('one address can open only a limited number of sockets', async () => {
	const open = async (address: string) => {
		const socket = new TestSocket(await socketUrl(ada), { 'x-forwarded-for': address });
		return socket;
	};
	const sockets = [await open('192.0.2.5'), await open('192.0.2.5'), await open('192.0.2.5')];
	for (const socket of sockets) await socket.seen({ type: 'hello' });
	// Other clients opened the remaining sockets, so this client may try again.
	const oneMore = await open('192.0.2.5');
	expect((await oneMore.closed).code).toBe(4003);
	expect(oneMore.frames).toEqual([]);
	const elsewhere = await open('192.0.2.6');
	await elsewhere.seen({ type: 'hello' });
	sockets[0]?.close();
	await sockets[0]?.closed;
	const after = await open('192.0.2.5');
	await after.seen({ type: 'hello' });
	for (const socket of [...sockets, elsewhere, after]) socket.close();
});
