import { expect, test } from 'bun:test';
import { createClient } from '../../client/src/index.ts';
import { FakeServer, START } from '../support/client/fake-server.ts';

/** How the client stays connected: its reaction to each way of losing a connection, and its timing. */

const LATER = '1700000000000009';
const BEFORE_LATER = '1700000000000008';

async function online(server: FakeServer) {
	const client = createClient(server.options);
	const connected = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connected;
	return client;
}

test('the client loads counts and conversations, then opens a socket from their position', async () => {
	const server = new FakeServer();
	const client = await online(server);
	expect(server.calls.slice(0, 3).map(({ method }) => method)).toEqual([
		'client.counts',
		'users.conversations',
		'rtm.connect',
	]);
	expect(server.callsOf('rtm.connect')[0]?.args).toEqual({ counts: true, since: START });
	expect(client.getSnapshot()).toMatchObject({
		isReady: true,
		self: { id: 'U1' },
		team: { name: 'Harbour' },
	});
});

test('a broken connection resumes one position before the last event, because other events of that change may be missing', async () => {
	const server = new FakeServer();
	const client = await online(server);
	server.socket.push({ type: 'channel_topic', channel: 'C1', topic: 'tides', position: LATER });
	server.socket.end(1006);
	expect(client.getSnapshot().connection.status).toBe('waiting');
	await server.time.pass(1000);
	expect(server.callsOf('rtm.connect').at(-1)?.args).toEqual({ counts: true, since: BEFORE_LATER });
	expect(server.callsOf('client.counts')).toHaveLength(1);
	expect(client.getSnapshot().conversations.get('C1')?.topic).toBe('tides');
});

test('the position in hello is complete: the client resumes from exactly that position', async () => {
	const server = new FakeServer();
	await online(server);
	server.socket.end(1006);
	await server.time.pass(1000);
	server.socket.push({ type: 'hello', position: LATER, missed: 0 });
	server.socket.end(1006);
	await server.time.pass(2000);
	expect(server.callsOf('rtm.connect').at(-1)?.args.since).toBe(LATER);
});

test('a client that is cut off while it catches up resumes from the old position again', async () => {
	const server = new FakeServer();
	await online(server);
	server.socket.end(1006);
	await server.time.pass(1000);
	server.socket.hello(2);
	server.socket.push({ type: 'channel_topic', channel: 'C1', topic: 'tides', position: LATER });
	server.socket.end(1006);
	await server.time.pass(2000);
	expect(server.callsOf('rtm.connect').at(-1)?.args.since).toBe(START);
	expect(server.callsOf('rtm.connect')).toHaveLength(3);
});

test('the client waits longer after each failure, at random up to a bound, and starts over after a stable connection', async () => {
	const server = new FakeServer();
	const client = await online(server);
	const waits: number[] = [];
	for (let failures = 0; failures < 9; failures += 1) {
		server.socket.end(1006);
		const wait = (client.getSnapshot().connection.retryAt ?? 0) - server.time.now;
		waits.push(wait);
		await server.time.pass(wait);
		expect(server.sockets).toHaveLength(failures + 2);
	}
	expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000]);
	server.random = 0.1;
	server.socket.end(1006);
	expect((client.getSnapshot().connection.retryAt ?? 0) - server.time.now).toBe(3000);
	await server.time.pass(3000);
	server.socket.hello();
	await server.time.pass(15_000);
	server.socket.end(1006);
	expect((client.getSnapshot().connection.retryAt ?? 0) - server.time.now).toBe(50);
});

test('a rate-limited client waits for Retry-After and a little longer', async () => {
	let times = 0;
	const server: FakeServer = new FakeServer({
		'rtm.connect': () => {
			times += 1;
			return { error: 'ratelimited', retryAfter: 7 };
		},
	});
	const client = createClient(server.options);
	client.connect().catch(() => undefined);
	await server.time.pass(0);
	expect((client.getSnapshot().connection.retryAt ?? 0) - server.time.now).toBe(7500);
	await server.time.pass(7400);
	expect(times).toBe(1);
	await server.time.pass(200);
	expect(times).toBe(2);
});

test.each([
	[4200, 'signed_out'],
	[4201, 'bad_frame'],
	[4204, 'too_many_sockets'],
	[4250, 'closed'],
])(
	'after close code %i the client stops with reason %s until it is asked to connect',
	async (code, reason) => {
		const server = new FakeServer();
		const client = await online(server);
		server.socket.end(code);
		await server.time.pass(600_000);
		expect(client.getSnapshot().connection).toEqual({ status: 'stopped', reason, retryAt: null });
		expect(server.sockets).toHaveLength(1);
		client.connect();
		await server.time.pass(0);
		expect(server.sockets).toHaveLength(2);
	},
);

test.each([4000, 4001, 4202, 1001])('after close code %i the client resumes', async (code) => {
	const server = new FakeServer();
	await online(server);
	server.socket.end(code);
	await server.time.pass(1000);
	expect(server.sockets).toHaveLength(2);
	expect(server.callsOf('client.counts')).toHaveLength(1);
});

test('after close code 4100 or a resync frame, the client reloads everything', async () => {
	const server = new FakeServer();
	await online(server);
	server.socket.end(4100);
	await server.time.pass(1000);
	server.socket.hello();
	server.socket.push({ type: 'resync', reason: 'too_far_behind' });
	await server.time.pass(5000);
	server.socket.push({ type: 'hello', position: START });
	await server.time.pass(5000);
	expect(server.callsOf('client.counts')).toHaveLength(4);
});

test('a token function is called again when the token has expired', async () => {
	let issued = 0;
	const server: FakeServer = new FakeServer({
		'users.setPresence': () => (server.calls.at(-1)?.token === 'token-1' ? { error: 'token_expired' } : {}),
	});
	const token = async () => {
		issued += 1;
		return `token-${issued}`;
	};
	const client = createClient({ ...server.options, token });
	const connected = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connected;
	await client.setPresence('away');
	expect(server.calls.at(-1)?.token).toBe('token-2');
	server.socket.end(4203);
	await server.time.pass(1000);
	expect(server.callsOf('rtm.connect').at(-1)?.token).toBe('token-3');
});

test('connect rejects if the server rejects the token, and the client does not retry', async () => {
	const server = new FakeServer({ 'client.counts': () => ({ error: 'invalid_auth' }) });
	const client = createClient(server.options);
	const connected = client.connect();
	await expect(connected).rejects.toMatchObject({ code: 'invalid_auth' });
	await server.time.pass(600_000);
	expect(server.calls).toHaveLength(1);
	expect(client.getSnapshot().connection).toMatchObject({ status: 'stopped', reason: 'invalid_auth' });
});

test('a client replaces a silent connection, within seconds while the window has attention', async () => {
	const server = new FakeServer();
	const client = await online(server);
	const { socket } = server;
	socket.isSilent = true;
	const pings = () => socket.sent.filter(({ type }) => type === 'ping');
	const pong = () => socket.push({ type: 'pong', reply_to: pings().at(-1)?.id });
	await server.time.pass(20_000);
	expect(pings()).toHaveLength(1);
	pong();
	await server.time.pass(19_000);
	expect(pings()).toHaveLength(1);
	client.attention.active();
	expect(pings()).toHaveLength(2);
	pong();
	await server.time.pass(4_000);
	expect(pings()).toHaveLength(3);
	pong();
	await server.time.pass(8_900);
	expect(client.getSnapshot().connection.status).toBe('online');
	await server.time.pass(200);
	expect(socket.isClosed).toBe(true);
	expect(client.getSnapshot().connection.status).toBe('waiting');
	await server.time.pass(500);
	expect(server.sockets).toHaveLength(2);
});

test('a request for a ticket times out; reconnect() tries at once', async () => {
	let asked = 0;
	const server = new FakeServer({
		'rtm.connect': () => {
			asked += 1;
			return new Promise(() => undefined);
		},
	});
	const client = createClient(server.options);
	client.connect().catch(() => undefined);
	await server.time.pass(10_500);
	expect(asked).toBe(2);
	client.reconnect();
	await server.time.pass(0);
	expect(asked).toBe(3);
	client.disconnect();
});

test('a client gives up on a server that never sends hello', async () => {
	const server = new FakeServer();
	createClient(server.options)
		.connect()
		.catch(() => undefined);
	await server.time.pass(22_000);
	expect(server.sockets).toHaveLength(2);
});

test('a client on a slow network keeps the connection while missed events arrive, and gives up when they stop', async () => {
	const server = new FakeServer();
	await online(server);
	server.socket.end(1006);
	await server.time.pass(16_000);
	server.socket.hello(4);
	for (const topic of ['tides', 'moons']) {
		await server.time.pass(15_000);
		server.socket.push({ type: 'channel_topic', channel: 'C1', topic, position: LATER });
	}
	await server.time.pass(15_000);
	expect(server.sockets).toHaveLength(2);
	await server.time.pass(7_000);
	expect(server.sockets).toHaveLength(3);
});

test('a client that disconnects while it connects does not retry', async () => {
	let fail = (_error: Error): void => undefined;
	const server = new FakeServer({
		'client.counts': () =>
			new Promise((_, reject) => {
				fail = reject;
			}),
	});
	const client = createClient(server.options);
	const connecting = client.connect();
	await server.time.pass(0);
	client.disconnect();
	fail(new TypeError('no network'));
	await expect(connecting).rejects.toMatchObject({ code: 'disconnected' });
	await server.time.pass(600_000);
	expect(client.getSnapshot().connection.status).toBe('idle');
	expect(server.calls).toHaveLength(1);
	await expect(client.settled()).rejects.toMatchObject({ code: 'disconnected' });
});

test('a disconnected client ignores late events, and resumes when it connects again', async () => {
	const server = new FakeServer();
	const client = await online(server);
	const { socket } = server;
	client.disconnect();
	socket.push({ type: 'channel_topic', channel: 'C1', topic: 'late', position: LATER });
	socket.end(1006);
	await server.time.pass(600_000);
	expect(client.getSnapshot().connection.status).toBe('idle');
	expect(client.getSnapshot().conversations.get('C1')?.topic).toBe('');
	expect(server.sockets).toHaveLength(1);
	client.connect();
	await server.time.pass(0);
	expect(server.callsOf('client.counts')).toHaveLength(1);
	expect(server.sockets).toHaveLength(2);
});
