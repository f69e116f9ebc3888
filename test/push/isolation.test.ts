import { afterEach, expect, test } from 'bun:test';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Http2Host, RequestRejected } from '../../src/push/http2-host.ts';
import { rawClient } from '../support/api.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { degradedOf, linesOfAbsence, type PushScene, until, withPush } from './push-server.ts';

/** A fault of one device, or of one user's backlog, affects only that device and that user. */

const FOREIGN_APPS = ['org.example.forbidden', 'org.example.reset'];

const openDm = async (from: Person, to: Person): Promise<string> =>
	(await from.call('conversations.open', { users: to.id })).channel.id;

const received = async ({ providers }: PushScene, token: string): Promise<number> =>
	(await providers.phone(token)).received;

test('an app or token that no provider accepts is rejected when it is added', () =>
	withPush(async ({ url }) => {
		const [anna] = (await makeWorkspace(url, 1)).people as [Person];
		const call = rawClient(url, anna.token);
		const add = (more: object) => call('push.devices.add', { platform: 'apns', token: 'abc123', ...more });
		for (const app of ['a b', 'a\r\nb', 'ä.example', 'org/example', 'x'.repeat(256)])
			expect(await add({ app })).toMatchObject({ ok: false, error: 'invalid_arguments' });
		for (const token of ['a/b', 'a b', 'ä', '\ud800', 'a\u0000b', 'x'.repeat(513)])
			expect(await add({ token })).toMatchObject({ ok: false, error: 'invalid_arguments' });
		for (const token of ['a b', 'ä', '\ud800'])
			expect(await add({ platform: 'fcm', token })).toMatchObject({ ok: false, error: 'invalid_arguments' });
		expect(await add({ app: 'org.example.tidemark-2' })).toMatchObject({ ok: true });
		expect(await add({ platform: 'fcm', token: 'dGVz:APA91b-x_Y' })).toMatchObject({ ok: true });
	}));

test.each(FOREIGN_APPS)('a device whose app APNs rejects (%s) blocks no other device', (app) =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 3);
		const [anna, ben, cleo] = people as [Person, Person, Person];
		await anna.call('push.devices.add', { platform: 'apns', token: 'annas-phone', app });
		await ben.call('push.devices.add', { platform: 'apns', token: 'bens-phone' });
		const [toAnna, toBen] = [await openDm(cleo, anna), await openDm(cleo, ben)];
		const arrived = () => received(scene, 'bens-phone');
		// A provider that has answered nobody lately counts as unreachable when it resets a request.
		await cleo.call('chat.postMessage', { channel: toBen, text: 'first' });
		expect(await until(arrived, (count) => count === 1)).toBe(1);
		for (let number = 1; number < 20; number += 1) {
			await cleo.call('chat.postMessage', { channel: toAnna, text: `${number}` });
			await cleo.call('chat.postMessage', { channel: toBen, text: `${number}` });
			expect(await degradedOf(scene)).toEqual([]);
		}
		expect(await until(arrived, (count) => count === 20)).toBe(20);
		expect(await degradedOf(scene)).toEqual([]);
		expect(linesOfAbsence(scene)).toEqual([]);
	}),
);

const servers: Http2Server[] = [];
afterEach(() => {
	for (const server of servers.splice(0)) server.close();
});

/** HTTP/2 without TLS; `/reset` is reset, everything else gets 200. */
async function hostThatResets(): Promise<Http2Host> {
	const server = createServer();
	servers.push(server);
	server.on('stream', (stream: ServerHttp2Stream, headers) => {
		stream.on('error', () => undefined);
		if (headers[':path'] === '/reset') return stream.close(11);
		stream.respond({ ':status': 200 });
		return stream.end('{}');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return new Http2Host({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

test('a request that cannot be sent, or is reset alone, is distinguished from an unreachable host', async () => {
	const host = await hostThatResets();
	expect((await host.post('/ok', {}, '{}')).status).toBe(200);
	const unsendable = await host.post('/ok', { 'apns-topic': 'a\r\nb' }, '{}').catch((error) => error);
	expect(unsendable).toBeInstanceOf(RequestRejected);
	const [reset, other] = await Promise.all([
		host.post('/reset', {}, '{}').catch((error) => error),
		host.post('/ok', {}, '{}'),
	]);
	expect(other.status).toBe(200);
	expect(reset).toBeInstanceOf(RequestRejected);
	host.close();
});
