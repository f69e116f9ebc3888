import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { Outgoing } from '../../src/apps/outgoing.ts';
import { certificateForLocalhost } from '../push/certificate.ts';
import { client } from '../support/api.ts';
import { type AppStage, appStage, manifestOf } from '../support/apps.ts';
import { eventually } from '../support/eventually.ts';
import { startEmbedded, startServer, type TestServer } from '../support/server.ts';

/** The Events API over HTTP: signatures, retries, and an app that keeps failing. */

const PATIENCE_MS = 15_000;

interface Received {
	readonly headers: Headers;
	readonly body: string;
}

let server: TestServer;
let stage: AppStage;
let status = 200;
const received: Received[] = [];
const endpoint = Bun.serve({
	port: 0,
	hostname: '127.0.0.1',
	fetch: async (request) => {
		const body = await request.text();
		const { type, challenge } = JSON.parse(body);
		if (type === 'url_verification') return new Response(challenge);
		received.push({ headers: request.headers, body });
		return new Response('', { status });
	},
});

beforeAll(async () => {
	server = await startServer({ 'app-retry-seconds': '2' });
	const requestUrl = `http://127.0.0.1:${endpoint.port}/events`;
	stage = await appStage(
		server.url,
		manifestOf({ events: ['message.channels'], socketMode: false, requestUrl }),
	);
}, 60_000);
afterAll(async () => {
	await server?.stop();
	await endpoint.stop(true);
});

const say = (text: string) => stage.ada('chat.postMessage', { channel: stage.channel, text });
const about = (text: string) => received.filter(({ body }) => JSON.parse(body).event.text === text);

test('an event is a signed request', async () => {
	await say('signed');
	await eventually(async () => expect(about('signed')).toHaveLength(1), PATIENCE_MS);
	const [{ headers, body }] = about('signed') as [Received];
	const at = headers.get('x-slack-request-timestamp');
	const expected = createHmac('sha256', stage.signingSecret).update(`v0:${at}:${body}`).digest('hex');
	expect(headers.get('x-slack-signature')).toBe(`v0=${expected}`);
	expect(headers.get('x-slack-retry-num')).toBeNull();
});

test('a failed event is sent again with its retry number, then given up; an app that always fails is paused until it is resumed', async () => {
	status = 500;
	await say('failing');
	await eventually(async () => expect(about('failing').length).toBeGreaterThan(1), PATIENCE_MS);
	const again = about('failing')[1]?.headers;
	expect([again?.get('x-slack-retry-num'), again?.get('x-slack-retry-reason')]).toEqual(['1', 'http_error']);
	const delivery = async () => (await stage.admin('admin.apps.info', { app_id: stage.app })).app.delivery;
	await Bun.sleep(2_000);
	await say('one more');
	await eventually(
		async () => expect(await delivery()).toMatchObject({ is_paused: true, last_error: 'HTTP 500' }),
		PATIENCE_MS,
	);
	status = 200;
	await say('while paused');
	expect(about('while paused')).toHaveLength(0);
	await stage.admin('admin.apps.resume', { app_id: stage.app });
	await eventually(async () => expect(about('while paused')).toHaveLength(1), PATIENCE_MS);
	expect(await delivery()).toMatchObject({ is_paused: false });
}, 60_000);

test('response_url has the public address of the server, whatever Host header the user sends', async () => {
	const payloads: Record<string, string>[] = [];
	const requests = Bun.serve({
		port: 0,
		hostname: '127.0.0.1',
		fetch: async (request) => {
			const form = Object.fromEntries(new URLSearchParams(await request.text()));
			payloads.push(form.payload === undefined ? form : JSON.parse(form.payload));
			return new Response('');
		},
	});
	const url = `http://127.0.0.1:${requests.port}/`;
	const manifest = manifestOf({
		socketMode: false,
		interactivityUrl: url,
		commands: [{ command: '/tide', url }],
	});
	const addresses = async ({ url: own }: TestServer): Promise<(string | undefined)[]> => {
		const { ada, adaToken, app, botToken, channel } = await appStage(own, manifest);
		const call = client(own, adaToken, { host: 'evil.example' });
		const { ts } = await ada('chat.postMessage', { channel, text: 'high water' });
		const button = { type: 'button', action_id: 'more', text: { type: 'plain_text', text: 'More' } };
		const blocks = [{ type: 'actions', block_id: 'tide', elements: [button] }];
		const posted = await client(own, botToken)('chat.postMessage', { channel, text: 'more?', blocks });
		payloads.length = 0;
		await call('chat.command', { channel, command: '/tide' });
		await call('shortcuts.run', { app_id: app, callback_id: 'quote', channel, message_ts: ts });
		await call('blocks.actions', {
			container: { type: 'message', channel_id: channel, message_ts: posted.ts },
			actions: [{ block_id: 'tide', action_id: 'more' }],
		});
		return payloads.map(({ response_url }) => response_url?.replace(/[^/]+$/, '…'));
	};
	const published = await startEmbedded({ 'public-url': 'https://chat.example' });
	try {
		expect(await addresses(published)).toEqual(Array(3).fill('https://chat.example/responses/…'));
		expect(await addresses(server)).toEqual(Array(3).fill(`${server.url}/responses/…`));
	} finally {
		await published.stop();
		await requests.stop(true);
	}
});

test('link-local addresses are never contacted, private ones only if allowed', async () => {
	const fetched: string[] = [];
	const outgoing = (allowsPrivate: boolean, address: string) =>
		new Outgoing({
			allowsPrivate,
			resolve: async () => [address],
			fetch: async (url) => {
				fetched.push(url);
				return new Response('ok');
			},
		}).post('https://app.example/events', '', {}, 1_000);
	await expect(outgoing(true, '169.254.169.254')).rejects.toThrow('link-local');
	await expect(outgoing(true, '::ffff:169.254.169.254')).rejects.toThrow('link-local');
	for (const address of [
		'10.1.2.3',
		'127.0.0.1',
		'192.168.1.1',
		'172.16.0.1',
		'fd00::1',
		'::1',
		'100.64.0.1',
	])
		await expect(outgoing(false, address)).rejects.toThrow('private');
	expect(fetched).toEqual([]);
	expect((await outgoing(true, '10.1.2.3')).status).toBe(200);
	expect((await outgoing(false, '93.184.216.34')).status).toBe(200);
});

test('a host is resolved once, and the request goes to the checked address, under its name', async () => {
	const { key, cert } = certificateForLocalhost();
	const secure = Bun.serve({
		port: 0,
		hostname: '127.0.0.1',
		tls: { key, cert },
		fetch: (request) => new Response(request.headers.get('host')),
	});
	const answers = [['127.0.0.3', '127.0.0.1'], ['169.254.169.254']];
	const resolved: string[] = [];
	const outgoing = new Outgoing({
		allowsPrivate: true,
		resolve: async (host) => {
			resolved.push(host);
			return answers.shift() ?? ['127.0.0.1'];
		},
		fetch: (url, init) => fetch(url, { ...init, tls: { ...init.tls, ca: cert } }),
	});
	const post = (host: string) => outgoing.post(`https://${host}:${secure.port}/events`, '{}', {}, 10_000);
	try {
		// Nobody listens at the first address. The name is not resolved a second time.
		expect((await post('localhost')).text).toBe(`localhost:${secure.port}`);
		expect(resolved).toEqual(['localhost']);
		await expect(post('localhost')).rejects.toThrow('link-local');
		// The certificate must be for the name, whatever the address.
		await expect(post('app.example')).rejects.toMatchObject({ reason: 'ssl_error' });
	} finally {
		await secure.stop(true);
	}
});
