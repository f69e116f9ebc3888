import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TidemarkClient } from '../../client/src/index.ts';
import { Network, until } from '../support/client/network.ts';
import { expectScreens } from '../support/client/screens.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { makeSharedChannel } from '../support/client/shared-channel.ts';
import { watchEverything } from '../support/client/shown.ts';
import { Random } from '../support/oracle/random.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { testServerProcess, withDirectory } from '../support/process.ts';
import { makeStage, perform } from '../support/resume/load.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Connections break at any moment: in the end the client has the server's counts and messages. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

const isOnline = (client: TidemarkClient) =>
	until(client, ({ connection }) => connection.status === 'online');

/** Reconnects at once: other tests cover the waiting time. */
const AT_ONCE = { random: () => 0 };

for (const seed of [31, 32, 33]) {
	test(`load ${seed}: a client that is cut off repeatedly while others change everything ends with the right state`, async () => {
		const random = new Random(seed);
		const workspace = await makeWorkspace(server.url, 5, `Cut ${seed}`);
		const stage = await makeStage(workspace);
		const [, watched] = workspace.people as [Person, Person];
		const network = new Network();
		const client = sdk(server.url, watched, { ...network.options, ...AT_ONCE });
		await client.connect();
		const stop = watchEverything(client);
		const caughtUp = () => network.frames.filter(({ type, missed }) => type === 'hello' && missed > 0).length;
		// How often it is cut off depends on the machine: repeats until it has resumed often enough.
		do {
			let isWorking = true;
			const work = perform(server.url, stage, random, 400).finally(() => {
				isWorking = false;
			});
			while (isWorking) {
				await Bun.sleep(random.below(40));
				network.cut();
			}
			await work;
		} while (caughtUp() < 3);
		await isOnline(client);
		await expectExact(client, watched);
		await expectScreens(client, watched);
		// The client resumed each time: it loaded everything only once, at the start.
		expect(network.callsOf('client.counts')).toHaveLength(1);
		stop();
		client.disconnect();
	});
}

/** A client that was cut off while it caught up, after the first of two missed messages. */
async function cutWhileCatchingUp() {
	const { reader, writer, channel, post } = await makeSharedChannel(server.url);
	const network = new Network();
	const client = sdk(server.url, reader, { ...network.options, ...AT_ONCE });
	await post('before');
	await client.connect();
	const stop = watchEverything(client);
	await client.settled();
	network.goOffline();
	const first = await post('first');
	const second = await post('second');
	network.goOfflineAfter(({ type, text }) => type === 'message' && text === 'first');
	network.goOnline();
	await until(client.conversation(channel), ({ messages }) => messages.some(({ ts }) => ts === first));
	const remove = (ts: string) => writer.call('chat.delete', { channel, ts });
	/** In the end the client has the server's state, and it got there by resuming. */
	const expectResumed = async () => {
		network.goOnline();
		await isOnline(client);
		await expectExact(client, reader);
		await expectScreens(client, reader);
		expect(network.callsOf('client.counts')).toHaveLength(1);
		stop();
		client.disconnect();
	};
	return { first, second, post, remove, expectResumed };
}

test('a client is cut off while it catches up, then a message that it received is deleted', async () => {
	const { first, second, remove, expectResumed } = await cutWhileCatchingUp();
	await remove(second);
	await remove(first);
	await expectResumed();
});

test('a client is cut off while it catches up, then a received message is deleted after a newer one was posted', async () => {
	const { first, second, post, remove, expectResumed } = await cutWhileCatchingUp();
	await remove(second);
	await post('third');
	await remove(first);
	await expectResumed();
});

test('a page loaded during an outage has a message that is deleted before the socket reconnects', async () => {
	const { reader, writer, channel, post } = await makeSharedChannel(server.url);
	const network = new Network();
	const client = sdk(server.url, reader, { ...network.options, ...AT_ONCE });
	await client.connect();
	network.fails = (method) => method === 'rtm.connect';
	network.cut();
	const ts = await post('a mistake');
	const stop = watchEverything(client);
	await until(client.conversation(channel), ({ messages }) => messages.length === 1);
	await writer.call('chat.delete', { channel, ts });
	network.fails = () => false;
	await isOnline(client);
	await expectExact(client, reader);
	await expectScreens(client, reader);
	stop();
	client.disconnect();
});

test('the server is stopped and started again', async () => {
	const own = await startServer();
	const workspace = await makeWorkspace(own.url, 5);
	const stage = await makeStage(workspace);
	const [, watched] = workspace.people as [Person, Person];
	const network = new Network();
	const client = sdk(own.url, watched, network.options);
	await client.connect();
	const stop = watchEverything(client);
	await perform(own.url, stage, new Random(5), 100);
	await own.restart();
	await perform(own.url, stage, new Random(6), 100);
	await isOnline(client);
	await expectExact(client, watched);
	await expectScreens(client, watched);
	expect(network.callsOf('client.counts')).toHaveLength(1);
	stop();
	client.disconnect();
	await own.stop();
});

test('the server is killed under load', async () => {
	await withDirectory(async (directory) => {
		const first = await testServerProcess(directory);
		const port = new URL(first.url).port;
		const workspace = await makeWorkspace(first.url, 5);
		const stage = await makeStage(workspace);
		const [, watched] = workspace.people as [Person, Person];
		const client = sdk(first.url, watched, { random: () => 0.1 });
		await client.connect();
		const work = perform(first.url, stage, new Random(7), 200);
		await Bun.sleep(150);
		await first.end('SIGKILL');
		await work;
		const second = await testServerProcess(directory, ['--port', port]);
		await perform(second.url, stage, new Random(8), 50);
		await isOnline(client);
		await expectExact(client, watched);
		client.disconnect();
		await second.end('SIGTERM');
	});
});

test('a client that is too far behind to resume reloads everything', async () => {
	const small = await startServer({ 'resume-changes': '5' });
	const { people } = await makeWorkspace(small.url, 2);
	const [watched, other] = people as [Person, Person];
	const { channel } = await other.call('conversations.create', { name: 'quay' });
	await other.call('conversations.invite', { channel: channel.id, users: watched.id });
	const network = new Network();
	const client = sdk(small.url, watched, { ...network.options, ...AT_ONCE });
	await client.connect();
	const stop = watchEverything(client);
	client.disconnect();
	for (let index = 0; index < 10; index += 1)
		await other.call('chat.postMessage', { channel: channel.id, text: `number ${index}` });
	await client.connect();
	await expectExact(client, watched);
	await expectScreens(client, watched);
	expect(client.getSnapshot().conversations.get(channel.id)?.unreadCount).toBe(10);
	expect(network.callsOf('client.counts')).toHaveLength(2);
	stop();
	client.disconnect();
	await small.stop();
});
