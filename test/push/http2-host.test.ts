import { afterEach, expect, test } from 'bun:test';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Http2Host } from '../../src/push/http2-host.ts';

/** The connection to a provider, through a network that can lose packets. */

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

async function portOf(server: Pick<Server, 'listen' | 'address' | 'close'>): Promise<number> {
	closing.push(() => server.close());
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

/** HTTP/2 without TLS; answers with 200, except to the first attempt of `/late`. */
async function startHost(): Promise<number> {
	const server = createHttp2Server();
	let isFirst = true;
	server.on('stream', (stream: ServerHttp2Stream, headers) => {
		stream.on('error', () => undefined);
		if (headers[':path'] === '/late' && isFirst) {
			isFirst = false;
			return;
		}
		stream.respond({ ':status': 200 });
		stream.end('{}');
	});
	return portOf(server);
}

/** Forwards connections; `lose` drops all packets of the connections that are open, and closes none. */
async function startNetwork(to: number) {
	const open = new Set<Socket>();
	let accepted = 0;
	const server = createServer((client) => {
		accepted += 1;
		const host = connect(to, '127.0.0.1');
		for (const [from, other] of [
			[client, host],
			[host, client],
		] as const) {
			open.add(from);
			closing.push(() => from.destroy());
			from.on('error', () => undefined);
			from.on('data', (bytes) => open.has(from) && other.write(bytes));
			from.on('close', () => open.has(from) && other.destroy());
		}
	});
	return { port: await portOf(server), lose: () => open.clear(), accepted: () => accepted };
}

const hostAt = (port: number, answerTimeoutMs = 1_000): Http2Host => {
	const host = new Http2Host({ url: `http://127.0.0.1:${port}`, answerTimeoutMs });
	closing.push(() => host.close());
	return host;
};

test('a connection whose packets are lost is replaced', async () => {
	const network = await startNetwork(await startHost());
	const host = hostAt(network.port);
	expect((await host.post('/ok', {}, '{}')).status).toBe(200);
	network.lose();
	const answers = await Promise.all([host.post('/ok', {}, '{}'), host.post('/ok', {}, '{}')]);
	expect(answers.map(({ status }) => status)).toEqual([200, 200]);
	expect(network.accepted()).toBeGreaterThan(1);
}, 30_000);

test('a connection that answers other requests is kept', async () => {
	const network = await startNetwork(await startHost());
	const host = hostAt(network.port, 2_000);
	const [late, other] = await Promise.all([host.post('/late', {}, '{}'), host.post('/ok', {}, '{}')]);
	expect([late.status, other.status]).toEqual([200, 200]);
	expect(network.accepted()).toBe(1);
}, 30_000);
