import { afterAll, beforeAll, expect, test } from 'bun:test';
import { blackHole } from '../support/black-hole.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { RawClient } from '../support/raw-client.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect, socketUrl, TestSocket } from '../support/socket.ts';

/** The server marks messages in focus read once the device has confirmed them. A device that confirms nothing is disconnected. */

const WITHIN_MS = 40_000;
const POST_EVERY_MS = 50;

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer({ 'socket-timeout-seconds': '3' });
});
afterAll(() => server.stop());

async function scene(): Promise<void> {
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	({
		channel: { id: channel },
	} = await ada.call('conversations.create', { name: 'pier' }));
	await ada.call('conversations.invite', { channel, users: grace.id });
}

const say = (text: string) => ada.call('chat.postMessage', { channel, text });
const presence = async (): Promise<string> =>
	(await ada.call('users.getPresence', { user: grace.id })).presence;

/** Posts repeatedly, so that the server never stops writing, until the device counts as gone. */
async function sayUntilAway(): Promise<number> {
	await say(`<@${grace.id}> by name`);
	let said = 1;
	await eventually(async () => {
		await say(`${said}`);
		said += 1;
		await Bun.sleep(POST_EVERY_MS);
		expect(await presence()).toBe('away');
	}, WITHIN_MS);
	return said;
}

async function expectUnread(said: number): Promise<void> {
	const counts = await grace.call('client.counts');
	const row = counts.channels.find(({ id }: { id: string }) => id === channel);
	expect(row).toMatchObject({ unread_count: said, mention_count: 1, badge_count: 1 });
	expect(counts.badge).toBe(1);
}

test('a focused device that stops reading marks nothing read, and is disconnected while the server keeps writing', async () => {
	await scene();
	const device = await RawClient.open(await socketUrl(grace));
	await device.ask({ type: 'channel_focus', channel });
	device.hang();
	await expectUnread(await sayUntilAway());
	device.end();
});

test('the same for a device whose packets are lost', async () => {
	await scene();
	const url = await socketUrl(grace);
	const network = await blackHole(url);
	const device = new TestSocket(network.through(url));
	await device.seen({ type: 'hello' });
	await device.ask({ type: 'channel_focus', channel });
	network.swallow();
	await expectUnread(await sayUntilAway());
	network.stop();
});

test('a client that receives but does not answer pings marks nothing read, and is closed with 4002', async () => {
	await scene();
	const device = await RawClient.open(await socketUrl(grace));
	await device.ask({ type: 'channel_focus', channel });
	const said = await sayUntilAway();
	await device.until(() => device.closeCode !== null);
	expect(device.closeCode).toBe(4002);
	expect(device.pings).toBe(1);
	await expectUnread(said);
	device.end();
});

test('without focus and without traffic, an unanswered ping closes the connection too', async () => {
	await scene();
	const device = await RawClient.open(await socketUrl(grace));
	expect(await presence()).toBe('active');
	await eventually(async () => expect(await presence()).toBe('away'), WITHIN_MS);
	expect(device.closeCode).toBe(4002);
	expect(device.pings).toBe(1);
	device.end();
});

test('a client that answers pings stays connected, however little it does, and reads in focus', async () => {
	await scene();
	const device = await connect(grace);
	await device.ask({ type: 'channel_focus', channel });
	await Bun.sleep(8_000);
	const { ts } = await say(`<@${grace.id}> by name`);
	await device.seen({ type: 'channel_marked', ts });
	expect((await grace.call('client.counts')).badge).toBe(0);
	expect(await presence()).toBe('active');
	device.close();
});

test('one ping covers many messages', async () => {
	await scene();
	const device = await RawClient.open(await socketUrl(grace));
	await device.ask({ type: 'channel_focus', channel });
	const before = device.pings;
	for (let number = 0; number < 20; number += 1) await say(`${number}`);
	// On a machine that posts slowly, the socket is closed earlier.
	await device.until(
		() => device.closeCode !== null || device.frames.filter(({ type }) => type === 'message').length === 20,
	);
	expect(device.pings - before).toBeLessThanOrEqual(1);
	device.end();
});

test('a device that returns finds the messages it did not confirm unread', async () => {
	await scene();
	const url = await socketUrl(grace);
	const network = await blackHole(url);
	const lost = new TestSocket(network.through(url));
	await lost.seen({ type: 'hello' });
	await lost.ask({ type: 'channel_focus', channel });
	const { ts: seen } = await say('seen');
	await lost.seen({ type: 'channel_marked', ts: seen });
	network.swallow();
	await say(`<@${grace.id}> not seen`);
	// The device notices first, reconnects over another network, and has the conversation in focus again.
	const back = await connect(grace);
	await back.ask({ type: 'channel_focus', channel });
	const { ts } = await say('seen again');
	await eventually(async () => {
		const { channels } = await grace.call('client.counts');
		expect(channels).toMatchObject([{ unread_count: 1, mention_count: 1, last_read: seen, latest: ts }]);
	}, WITHIN_MS);
	back.close();
	network.stop();
});
