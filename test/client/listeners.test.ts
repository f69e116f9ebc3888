import { expect, test } from 'bun:test';
import { createClient } from '../../client/src/index.ts';
import { FakeServer } from '../support/client/fake-server.ts';

/** A listener that throws affects neither the state of the client nor other listeners, and its error is reported. */

const LATER = '1700000000000009';

async function online() {
	const server = new FakeServer();
	const client = createClient(server.options);
	const connected = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connected;
	await server.time.pass(1_000);
	const topic = { type: 'channel_topic', channel: 'C1', topic: 'tides', position: LATER };
	return { server, client, topic };
}

const throwing = (): void => {
	throw new Error('a bug in the application');
};

test('an event whose listener throws is applied, counted and passed to other listeners', async () => {
	const { server, client, topic } = await online();
	const received: string[] = [];
	client.onEvent(throwing);
	client.onEvent(({ type }) => received.push(type));
	server.socket.push(topic);
	expect(client.getSnapshot().conversations.get('C1')?.topic).toBe('tides');
	expect(received).toEqual(['channel_topic']);
	await expect(server.time.pass(0)).rejects.toThrow('a bug in the application');
	server.socket.end(1006);
	await server.time.pass(1_000);
	expect(server.callsOf('rtm.connect').at(-1)?.args.since).toBe('1700000000000008');
});

test('a subscriber that throws does not keep others from being notified', async () => {
	const { server, client, topic } = await online();
	const notified: string[] = [];
	const conversation = client.conversation('C1');
	conversation.subscribe(throwing);
	conversation.subscribe(() => notified.push('same store'));
	client.subscribe(() => notified.push('another store'));
	server.socket.push(topic);
	await expect(server.time.pass(0)).rejects.toThrow('a bug in the application');
	expect(notified).toContain('same store');
	expect(notified).toContain('another store');
});
