import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Installed, installPackage } from '../support/client/package.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** The package as published: small, without dependencies, typed, and usable in plain Node. */

const MAX_BYTES = 20 * 1024;

let server: TestServer;
let installed: Installed;
beforeAll(async () => {
	[server, installed] = await Promise.all([startServer(), installPackage()]);
});
afterAll(async () => {
	await Promise.all([server.stop(), installed.remove()]);
});

test(`both entries together are less than ${MAX_BYTES} bytes, minified and compressed`, async () => {
	const sizes: number[] = [];
	for (const name of ['index.js', 'react.js'])
		sizes.push(Bun.gzipSync(await installed.dist(name)).byteLength);
	console.log(`index.js ${sizes[0]} bytes, react.js ${sizes[1]} bytes, compressed`);
	expect(sizes[0]).toBeGreaterThan(5_000);
	expect((sizes[0] ?? 0) + (sizes[1] ?? 0)).toBeLessThan(MAX_BYTES);
});

test('the package has no dependencies, and only its React entry imports React', async () => {
	const { dependencies } = await Bun.file(
		`${installed.directory}/node_modules/@tidemark/client/package.json`,
	).json();
	expect(dependencies).toBeUndefined();
	const imports = async (name: string) =>
		new Bun.Transpiler({ loader: 'js' }).scanImports(new TextDecoder().decode(await installed.dist(name)));
	expect(await imports('index.js')).toEqual([]);
	expect((await imports('react.js')).map(({ path }) => path)).toEqual(['react']);
});

test('the package works in plain Node with a given WebSocket', async () => {
	const { people } = await makeWorkspace(server.url, 2);
	const [ada, bo] = people as [Person, Person];
	const { channel } = await ada.call('conversations.create', { name: 'quay' });
	await ada.call('conversations.invite', { channel: channel.id, users: bo.id });
	await ada.call('chat.postMessage', { channel: channel.id, text: `<@${bo.id}> hello` });
	const out = await installed.node(`
		import { createClient } from '@tidemark/client';
		import { WebSocket } from 'ws';
		delete globalThis.WebSocket;
		const client = createClient({ url: '${server.url}', token: '${bo.token}', WebSocket });
		await client.connect();
		const before = client.badge.getSnapshot();
		const conversation = client.conversation('${channel.id}');
		await conversation.post('from Node');
		await conversation.mark();
		await client.settled();
		console.log(before, client.badge.getSnapshot(), conversation.getSnapshot().conversation.name);
		client.disconnect();
	`);
	expect(out).toBe('1 0 quay\n');
	const { messages } = await ada.call('conversations.history', { channel: channel.id });
	expect(messages[0].text).toBe('from Node');
});

test('a missing WebSocket or address causes an error that says what to pass', async () => {
	const out = await installed.node(`
		import { createClient } from '@tidemark/client';
		const attempt = (options) => {
			try { createClient(options); } catch (error) { console.log(error.message); }
		};
		attempt({ token: 'xoxp-1', WebSocket: class {} });
		delete globalThis.WebSocket;
		attempt({ url: 'http://localhost', token: 'xoxp-1' });
	`);
	expect(out).toContain('Pass `url`, the address of the server');
	expect(out).toContain('This platform has no global WebSocket');
});

test('the package has types for its users', async () => {
	const good = `
		import { ApiError, createClient, type Conversation } from '@tidemark/client';
		import { useInbox } from '@tidemark/client/react';
		const client = createClient({ url: 'http://localhost', token: async () => 'xoxp-1' });
		const inbox: readonly Conversation[] = client.inbox.getSnapshot();
		export const hook: () => readonly Conversation[] = useInbox;
		export const posted: Promise<string> = client.conversation('C1').post('x').then(({ ts }) => ts);
		export const isRejected = (error: unknown) => error instanceof ApiError && error.code === 'is_archived';
		console.log(inbox);
	`;
	expect(await installed.typeErrors(good)).toBe('');
	const wrong = good.replace("post('x')", 'post(7)').replace('readonly Conversation[] =', 'string =');
	expect((await installed.typeErrors(wrong)).match(/error TS2\d+/g)).toHaveLength(2);
});
