import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace } from '../support/people.ts';
import { isOnCluster, startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** What operators see of a healthy server. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function metric(name: string): Promise<number> {
	const text = await (await fetch(`${server.url}/metrics`)).text();
	return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('metrics and readiness name their process and its role', async () => {
	const text = await (await fetch(`${server.url}/metrics`)).text();
	const { process } = (await (await fetch(`${server.url}/readyz`)).json()) as { process: object };
	const [, role, id] = /^tidemark_process_info\{role="(\w+)",id="([^"]+)"\} 1$/m.exec(text) ?? [];
	expect(process).toEqual({ role, id });
	expect(role).toBe(isOnCluster() ? 'gateway' : 'server');
	expect(id).toMatch(/^.+:\d+$/);
});

test('docs/monitoring.md has every metric, and each name fits its type', async () => {
	const text = await (await fetch(`${server.url}/metrics`)).text();
	const documented = await Bun.file(`${import.meta.dir}/../../docs/monitoring.md`).text();
	const own = [...text.matchAll(/^# TYPE (tidemark_\S+) (\w+)$/gm)].filter(
		([, name]) => !/^tidemark_(nodejs|process)_(?!info)/.test(name as string),
	);
	expect(own.length).toBeGreaterThan(10);
	for (const [, name = '', kind] of own) {
		const found = { name, isCounter: kind === 'counter', isDocumented: documented.includes(name) };
		expect(found).toEqual({ name, isCounter: name.endsWith('_total'), isDocumented: true });
	}
});

test('scraping metrics does not force a full garbage collection', async () => {
	const text = await (await fetch(`${server.url}/metrics`)).text();
	expect(text).toContain('tidemark_nodejs_heap_size_used_bytes');
	expect(text).not.toContain('heap_space');
});

test('posts are counted over HTTP and over sockets, and rejected ones are not', async () => {
	const [ada] = (await makeWorkspace(server.url, 1)).people;
	if (!ada) throw new Error('nobody there');
	const { channel } = await ada.call('conversations.create', { name: 'counted' });
	expect(await metric('tidemark_posts_total')).toBe(0);
	await ada.call('chat.postMessage', { channel: channel.id, text: 'over HTTP' });
	const socket = await connect(ada);
	const post = (to: string) => socket.ask({ type: 'message', channel: to, text: 'over a socket' });
	expect(await post(channel.id)).toMatchObject({ ok: true });
	expect(await post('C0000000000')).toMatchObject({ ok: false });
	expect(await metric('tidemark_posts_total')).toBe(2);
});
