import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test';
import { SignJWT } from 'jose';
import { client } from '../support/api.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, socketUrl, TestSocket } from '../support/socket.ts';

/** How long a socket stays open, and how many a user may have. */

const SECRET = 'a secret of the integrating product, long enough';

let server: TestServer;
let workspace: Workspace;
let ada: Person;

beforeAll(async () => {
	server = await startServer({ 'jwt-secret': SECRET, 'sockets-per-user': '5' });
	workspace = await makeWorkspace(server.url, 3);
	ada = workspace.people[0] as Person;
});
afterAll(() => server.stop());

async function withJwt(expiresAt: number): Promise<Person> {
	const token = await new SignJWT({ sub: ada.id, team: workspace.team })
		.setProtectedHeader({ alg: 'HS256' })
		.setExpirationTime(expiresAt)
		.sign(new TextEncoder().encode(SECRET));
	return { ...ada, token, call: client(server.url, token) };
}

const seconds = (): number => Math.floor(Date.now() / 1000);

test('a socket closes when its JWT expires, and no other socket does', async () => {
	const expiresAt = seconds() + 2;
	const short = await connect(await withJwt(expiresAt));
	const others = [await connect(await withJwt(seconds() + 300)), await connect(ada)];
	expect((await short.closed).code).toBe(4203);
	const late = Date.now() - expiresAt * 1000;
	expect(late).toBeGreaterThanOrEqual(0);
	expect(late).toBeLessThan(1_500);
	await Promise.all(others.map((socket) => socket.settled()));
});

test('a ticket of a JWT that has expired meanwhile opens nothing', async () => {
	const expiresAt = seconds() + 10;
	const url = await socketUrl(await withJwt(expiresAt));
	setSystemTime(expiresAt * 1000 + 1);
	try {
		const socket = new TestSocket(url);
		expect((await socket.closed).code).toBe(4203);
		expect(socket.frames).toEqual([]);
	} finally {
		setSystemTime();
	}
});

test('one socket too many gets the reason and is closed; after another closes, there is room again', async () => {
	const [, grace, linus] = workspace.people as [Person, Person, Person];
	const sockets = await Promise.all(Array.from({ length: 5 }, () => connect(grace)));
	const oneMore = new TestSocket(await socketUrl(grace));
	expect(await oneMore.closed).toEqual({ code: 4204, reason: expect.stringContaining('sockets') });
	expect(oneMore.frames).toEqual([]);
	await connect(linus);
	await Promise.all(sockets.map((socket) => socket.settled()));
	expect((await linus.call('users.getPresence', { user: grace.id })).presence).toBe('active');
	sockets[0]!.close();
	await sockets[0]!.closed;
	await Bun.sleep(20);
	await connect(grace);
});
