import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** What operators read of a server that works. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function metric(name: string): Promise<number> {
	const text = await (await fetch(`${server.url}/metrics`)).text();
	return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('posts are counted over HTTP and over sockets alike, and refused ones are not', async () => {
	const [ada] = (await makeWorkspace(server.url, 1)).people;
	if (!ada) throw new Error('nobody there');
	const { channel } = await ada.call('conversations.create', { name: 'counted' });
	expect(await metric('tidemark_posts_total')).toBe(0);
	await ada.call('chat.postMessage', { channel: channel.id, text: 'over HTTP' });
	const socket = await connect(ada);
	socket.send({ id: 7, type: 'message', channel: channel.id, text: 'over a socket' });
	await socket.seen({ ok: true, reply_to: 7 });
	socket.send({ id: 8, type: 'message', channel: 'C0000000000', text: 'to nowhere' });
	await socket.seen({ ok: false, reply_to: 8 });
	expect(await metric('tidemark_posts_total')).toBe(2);
});
