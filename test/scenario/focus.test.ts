import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { Device } from '../support/live/device.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** A device with a conversation in focus reads the messages that are delivered to it, and no others. */

/** Only the test of an idle device leaves its device unused for this long, even on a busy machine. */
const IDLE_SECONDS = 8;

let server: TestServer;
let ada: Person;
let grace: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer({ 'focus-idle-seconds': String(IDLE_SECONDS) });
	const { people } = await makeWorkspace(server.url, 2);
	[ada, grace] = people as [Person, Person];
});
afterAll(() => server.stop());

async function freshChannel(name: string): Promise<void> {
	({
		channel: { id: channel },
	} = await ada.call('conversations.create', { name }));
	await ada.call('conversations.invite', { channel, users: grace.id });
}

const say = async (who: Person, text: string): Promise<string> =>
	(await who.call('chat.postMessage', { channel, text })).ts;

const rowOf = async (who: Person) => (await who.call('conversations.info', { channel })).channel;

/** Reading needs a confirmation by the device. */
const expectRow = (row: object): Promise<void> =>
	eventually(async () => expect(await rowOf(grace)).toMatchObject(row), 20_000);

/** Within this time a device would have confirmed the message, and it would be marked. */
const WOULD_BE_READ_MS = 600;

async function expectStill(row: object): Promise<void> {
	await Bun.sleep(WOULD_BE_READ_MS);
	expect(await rowOf(grace)).toMatchObject(row);
}

async function focused(device: Device, revision?: number): Promise<void> {
	const acknowledged = device.next((event) => event.reply_to === 900 && event.ok);
	device.send({ id: 900, type: 'channel_focus', channel, ...(revision === undefined ? {} : { revision }) });
	await acknowledged;
}

/** Posts as Ada and waits until Grace's device has the message and its consequences. */
async function deliver(device: Device, text: string): Promise<string> {
	const arrived = device.next((event) => event.type === 'message' && event.text === text);
	const ts = await say(ada, text);
	await arrived;
	await device.settle();
	return ts;
}

describe('focus', () => {
	test('a message delivered into focus is read, and the cursor moves over it', async () => {
		await freshChannel('into-focus');
		const device = new Device(grace.id, grace.call);
		await device.connect();
		await focused(device);
		const ts = await deliver(device, 'look');
		await expectRow({ unread_count: 0, last_read: ts });
		device.disconnect();
	});

	test('earlier unread messages stay unread: only delivered ones are read', async () => {
		await freshChannel('earlier-stays');
		await say(ada, 'earlier');
		const device = new Device(grace.id, grace.call);
		await device.connect();
		await focused(device);
		await deliver(device, 'later');
		await expectRow({ unread_count: 1, last_read: '0000000000.000000' });
		device.disconnect();
	});

	test('after blur, and after the connection ended, nothing is read', async () => {
		await freshChannel('blurred');
		const device = new Device(grace.id, grace.call);
		await device.connect();
		await focused(device);
		const acknowledged = device.next((event) => event.reply_to === 901);
		device.send({ id: 901, type: 'channel_blur', channel });
		await acknowledged;
		await deliver(device, 'unseen');
		await expectStill({ unread_count: 1 });
		await focused(device);
		device.disconnect();
		await say(ada, 'nobody here');
		await expectStill({ unread_count: 2 });
	});

	test('a mark unread survives a second device that still has the conversation in focus', async () => {
		await freshChannel('second-device');
		const phone = new Device(grace.id, grace.call);
		const laptop = new Device(grace.id, grace.call);
		await phone.connect();
		await laptop.connect();
		await focused(laptop);
		const first = await deliver(laptop, 'first');
		await expectRow({ unread_count: 0 });
		await phone.counts.rows.get(channel);
		const { revision } = await grace.call('conversations.markUnread', { channel, ts: first });
		await deliver(laptop, 'second');
		await expectStill({ unread_count: 2, revision });
		// The laptop sends focus again, with the revision that it knows now.
		await focused(laptop, revision);
		const third = await deliver(laptop, 'third');
		await expectRow({ unread_count: 2, latest_ts: third });
		phone.disconnect();
		laptop.disconnect();
	});

	test('a device whose user is set to away marks nothing read', async () => {
		await freshChannel('away');
		const device = new Device(grace.id, grace.call);
		await device.connect();
		await focused(device);
		await grace.call('users.setPresence', { presence: 'away' });
		await deliver(device, 'while away');
		await expectStill({ unread_count: 1 });
		await grace.call('users.setPresence', { presence: 'auto' });
		const back = await deliver(device, 'back again');
		await expectRow({ unread_count: 1, latest_ts: back });
		device.disconnect();
	});

	test('an idle device reads nothing until it is used again; pings do not count as use', async () => {
		await freshChannel('idle');
		const device = new Device(grace.id, grace.call);
		await device.connect();
		await focused(device);
		const idleUntil = Date.now() + IDLE_SECONDS * 1000 + 100;
		while (Date.now() < idleUntil) await device.settle();
		await deliver(device, 'to an empty chair');
		await expectStill({ unread_count: 1 });
		device.send({ id: 902, type: 'typing', channel });
		const back = await deliver(device, 'welcome back');
		await expectRow({ unread_count: 1, latest_ts: back });
		device.disconnect();
	});

	test('focus on a conversation that the user is not in is rejected', async () => {
		const { channel: own } = await ada.call('conversations.create', {
			name: 'without-grace',
			is_private: true,
		});
		const device = new Device(grace.id, grace.call);
		await device.connect();
		const rejected = device.next(
			(event) => event.reply_to === 903 && event.error?.msg === 'channel_not_found',
		);
		device.send({ id: 903, type: 'channel_focus', channel: own.id });
		await rejected;
		device.disconnect();
	});
});
