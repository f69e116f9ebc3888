import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import * as exported from '../../client/src/index.ts';
import { type Installed, installPackage } from '../support/client/package.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Runs the examples of client/README.md unchanged, except for address and token. */

const README = join(import.meta.dir, '..', '..', 'client', 'README.md');

let server: TestServer;
let installed: Installed;
let reader: Person;
beforeAll(async () => {
	[server, installed] = await Promise.all([startServer(), installPackage()]);
	const { people } = await makeWorkspace(server.url, 2);
	const [writer] = people as [Person, Person];
	reader = people[1] as Person;
	const { channel } = await writer.call('conversations.create', { name: 'harbour' });
	await writer.call('conversations.invite', { channel: channel.id, users: reader.id });
	for (const text of ['The ferry is late.', `<@${reader.id}> can you call them?`])
		await writer.call('chat.postMessage', { channel: channel.id, text });
});
afterAll(async () => {
	await Promise.all([server.stop(), installed.remove()]);
});

async function blocks(language: string): Promise<string[]> {
	const text = await Bun.file(README).text();
	return [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, block]) =>
		String(block),
	);
}

function withServer(example: string): string {
	const put = example.replace('https://chat.example.com', server.url).replace('xoxp-…', reader.token);
	expect(put).not.toBe(example);
	return put;
}

const WEBSOCKET = "import { WebSocket } from 'ws';\nglobalThis.WebSocket ??= WebSocket;\n";

test('the examples print what the README says', async () => {
	const examples = await blocks('js');
	expect(examples).toHaveLength(4);
	const out = await installed.node(`${WEBSOCKET}${withServer(examples.join('\n'))}\nclient.disconnect();\n`);
	const expected = (await blocks('text')).join('').replace('U024BE7LH', reader.id);
	expect(out).toBe(expected);
});

test('the React example renders the inbox', async () => {
	const [example = ''] = await blocks('jsx');
	const source = withServer(example).replace('client.connect();', 'await client.connect();');
	const options = { loader: 'jsx', tsconfig: { compilerOptions: { jsx: 'react' } } } as const;
	const program = new Bun.Transpiler(options).transformSync(source);
	const out = await installed.node(`${WEBSOCKET}import React from 'react';
		import { renderToString } from 'react-dom/server';
		${program}
		for (const { id } of client.inbox.getSnapshot()) await client.conversation(id).load();
		console.log(renderToString(React.createElement(App)).replaceAll('<!-- -->', ''));
		client.disconnect();`);
	expect(out).toContain('<h2>harbour');
	expect(out).toContain('<p>The ferry is late.</p>');
	expect(out).toMatch(/<nav title="\d+ for you">/);
});

test('the README has every method, and no others', async () => {
	const page = await Bun.file(README).text();
	const source = await Bun.file(join(import.meta.dir, '..', '..', 'client', 'src', 'public.ts')).text();
	const methods = [...source.matchAll(/^\t(\w+)(?:<.*?>)?\(/gm)].map(([, name]) => String(name));
	const ofSockets = new Set(['set', 'clear', 'send', 'close']);
	expect(methods.length).toBeGreaterThan(40);
	for (const name of methods.filter((one) => !ofSockets.has(one))) expect(page).toContain(`${name}(`);
	const named = [...page.matchAll(/`(\w+)\([^`]*\)`/g)].map(([, name]) => String(name));
	const known = new Set([...methods, ...Object.keys(exported), 'subscribe', 'getSnapshot']);
	expect(named.filter((name) => !known.has(name) && !name.startsWith('use'))).toEqual([]);
});
