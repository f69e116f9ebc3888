import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, socketUrl } from '../support/socket.ts';
import { stalledClient } from '../support/stalled-client.ts';

/** A client that stops reading is disconnected when its buffer reaches a limit, and delays nobody. */

const BUFFER_KB = 64;
const TEXT = '~'.repeat(40_000);
/** More than the kernel's and the server's buffers hold together. */
const POSTS = 500;

let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer({ 'socket-buffer-kb': String(BUFFER_KB) });
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
});
afterAll(() => server.stop());

/** The number of sockets that the server reports. */
async function openSockets(): Promise<number> {
	const metrics = await (await fetch(`${server.url}/metrics`)).text();
	return Number(/^tidemark_sockets (\d+)$/m.exec(metrics)?.[1]);
}

test('a client that stops reading is disconnected; others receive everything, and it can resume', async () => {
	const { channel } = await ada.call('conversations.create', { name: 'flood' });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	const stalled = await stalledClient(await socketUrl(grace));
	const listener = await connect(grace);
	expect(await openSockets()).toBe(2);

	for (let index = 0; index < POSTS; index += 1) {
		const { ts } = await ada.call('chat.postMessage', { channel: channel.id, text: `${index} ${TEXT}` });
		// Clients that read are served meanwhile: the stalled one delays nobody.
		await listener.seen({ type: 'message', ts });
	}
	expect(listener.having({ type: 'message' })).toHaveLength(POSTS);
	expect(await openSockets()).toBe(1);
	expect(await stalled.resume()).toBeLessThan(POSTS * TEXT.length);

	const back = await connect(grace);
	const { ts } = await ada.call('chat.postMessage', { channel: channel.id, text: 'welcome back' });
	await back.seen({ ts });
	back.close();
	listener.close();
});
