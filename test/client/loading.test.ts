import { expect, test } from 'bun:test';
import { createClient } from '../../client/src/index.ts';
import { counts, FakeServer, row } from '../support/client/fake-server.ts';

/** Messages that load while events arrive, pages are dropped, or the client reloads everything. */

const ts = (number: number): string => `1700000000.${String(number).padStart(6, '0')}`;
const message = (number: number) => ({ ts: ts(number), user: 'U2', text: String(number) });
const posted = (number: number) => ({
	...message(number),
	type: 'message',
	channel: 'C1',
	prev_ts: ts(number - 1),
	event_ts: ts(number),
});
/** The messages from one number to another, newest first as in an answer. */
const page = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, index) => message(to - index));

type Page = { messages: object[]; has_more: boolean };

/** `answers`: to the requests of messages, in this order. */
async function stage(answers: (Page | Promise<Page>)[]) {
	const server = new FakeServer({
		'client.counts': () => counts([row('C1', { latest: ts(2010) })]),
		'conversations.history': async () => (await answers.shift()) ?? {},
	});
	const client = createClient(server.options);
	const connecting = client.connect();
	await server.time.pass(0);
	server.socket.hello();
	await connecting;
	const conversation = client.conversation('C1');
	const shown = () => conversation.getSnapshot().messages.map(({ text }) => Number(text));
	return { server, client, conversation, shown };
}

test('a page of older messages adjoins the list, even if a message arrives while the list is full', async () => {
	const older = Promise.withResolvers<Page>();
	const { server, conversation, shown } = await stage([
		{ messages: page(11, 2010), has_more: true },
		older.promise,
	]);
	await conversation.load();
	const loading = conversation.loadOlder();
	await server.time.pass(0);
	server.socket.push(posted(2011));
	older.resolve({ messages: page(1, 10), has_more: false });
	await loading;
	expect(shown()).toEqual(Array.from({ length: 2011 }, (_, index) => index + 1));
	// The next message drops the oldest page again.
	server.socket.push(posted(2012));
	expect(shown().length).toBeLessThan(2012);
	expect(conversation.getSnapshot().hasOlder).toBe(true);
});

test('after a resync, messages load without waiting for a request from before it', async () => {
	const never = new Promise<Page>(() => undefined);
	const { server, conversation, shown } = await stage([never, { messages: page(1, 3), has_more: false }]);
	const stop = conversation.subscribe(() => undefined);
	await server.time.pass(0);
	server.socket.push({ type: 'resync' });
	await server.time.pass(1_000);
	server.socket.hello();
	await server.time.pass(0);
	expect(shown()).toEqual([1, 2, 3]);
	stop();
});
