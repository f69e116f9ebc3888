import { afterEach, expect, test } from 'bun:test';
import { UPGRADE } from '../support/abuse/raw-http.ts';
import { peakMb, residentMb, type SlowClients, slowClients } from '../support/abuse/slow-clients.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { type ServerProcess, testServerProcess, withDirectory } from '../support/process.ts';
import { socketUrl } from '../support/socket.ts';

/** Clients that request much and read nothing use a bounded amount of memory, and delay nobody else. */

const MAX_MB = 300;
/** Each character takes six in JSON: 240 KB per message. */
const TEXT = '\u0007'.repeat(40_000);
/** All messages together have 21 MB. The first of them have as much as a client may resume with. */
const MESSAGES = 90;
const RESUMED = 15;

const left: SlowClients[] = [];
afterEach(() => {
	for (const clients of left.splice(0)) clients.end();
});

interface Scene {
	readonly server: ServerProcess;
	readonly ada: Person;
	readonly grace: Person;
	readonly channel: string;
	/** The position before the last of these messages. */
	readonly since: string;
}

const withScene = (work: (scene: Scene) => Promise<void>) =>
	withDirectory(async (directory) => {
		const server = await testServerProcess(directory);
		const [ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
		const channel = (await ada.call('conversations.create', { name: 'large' })).channel.id;
		await ada.call('conversations.invite', { channel, users: grace.id });
		let since = '';
		for (let index = 0; index < MESSAGES; index += 1) {
			if (index === MESSAGES - RESUMED) since = (await grace.call('client.counts')).position;
			await ada.call('chat.postMessage', { channel, text: TEXT });
		}
		await work({ server, ada, grace, channel, since });
		await server.end('SIGTERM');
	});

async function expectServed({ ada, channel }: Scene): Promise<void> {
	expect((await ada.call('chat.postMessage', { channel, text: 'still here' })).ok).toBe(true);
	expect((await ada.call('conversations.history', { channel, limit: 5 })).messages).toHaveLength(5);
}

async function ask(scene: Scene, count: number, request: (index: number) => string): Promise<void> {
	left.push(await slowClients(scene.server.url, count, request, { reads: false }));
}

test(
	'clients that request pages of history and do not read them',
	() =>
		withScene(async (scene) => {
			const { server, grace, channel } = scene;
			const before = await residentMb(server.url);
			const page =
				`GET /api/conversations.history?channel=${channel}&limit=999 HTTP/1.1\r\nHost: localhost\r\n` +
				`Authorization: Bearer ${grace.token}\r\n\r\n`;
			// All messages in every answer would be 860 MB.
			const peak = await peakMb(server.url, () => ask(scene, 40, () => page), 3_000);
			expect(peak - before).toBeLessThan(MAX_MB);
			await expectServed(scene);
		}),
	120_000,
);

test(
	'clients that resume sockets and do not read them',
	() =>
		withScene(async (scene) => {
			const { server, grace, since } = scene;
			const before = await residentMb(server.url);
			const paths: string[] = [];
			// 60 resumes would be 210 MB of frames, and twice that with the objects they are built from.
			for (let index = 0; index < 60; index += 1) {
				const { pathname, search } = new URL(await socketUrl(grace, { since }));
				paths.push(pathname + search);
			}
			const peak = await peakMb(
				server.url,
				() =>
					ask(
						scene,
						paths.length,
						(index) => `GET ${paths[index]} HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n`,
					),
				3_000,
			);
			expect(peak - before).toBeLessThan(MAX_MB);
			await expectServed(scene);
		}),
	120_000,
);

test(
	'anonymous clients that request the web interface and do not read it',
	() =>
		withScene(async (scene) => {
			const { server } = scene;
			const html = await (await fetch(`${server.url}/`)).text();
			const script = /src="([^"]+\.js)"/.exec(html)?.[1] as string;
			const size = (await (await fetch(server.url + script)).arrayBuffer()).byteLength;
			const before = await residentMb(server.url);
			const count = Math.ceil(600_000_000 / size);
			const request = `GET ${script} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
			const peak = await peakMb(server.url, () => ask(scene, Math.min(count, 1_500), () => request), 1_000);
			expect(peak - before).toBeLessThan(MAX_MB);
			await expectServed(scene);
		}),
	120_000,
);
