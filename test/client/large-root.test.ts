import { afterAll, beforeAll, expect, test } from 'bun:test';
import { expectScreens } from '../support/client/screens.ts';
import { sdk } from '../support/client/sdk.ts';
import { makeSharedChannel } from '../support/client/shared-channel.ts';
import { watchEverything } from '../support/client/shown.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Events of replies carry only a preview of the root: the client keeps the whole root that it has. */

const TEXT = 'a long read '.repeat(1_000);

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

test('a large root on screen keeps its whole text while replies arrive, and can be edited and deleted', async () => {
	const { reader, writer, channel, post } = await makeSharedChannel(server.url);
	const client = sdk(server.url, reader);
	await client.connect();
	const ts = await post(TEXT);
	const thread = client.thread(channel, ts);
	const stops = [watchEverything(client), thread.subscribe(() => undefined)];
	const shown = () =>
		client
			.conversation(channel)
			.getSnapshot()
			.messages.find((one) => one.ts === ts);
	await client.settled();
	const reply = async (text: string): Promise<string> =>
		(await writer.call('chat.postMessage', { channel, thread_ts: ts, text })).ts;
	const first = await reply('first');
	await reply('second');
	await client.settled();
	expect(shown()).toMatchObject({ text: TEXT, replyCount: 2 });
	expect(thread.getSnapshot().root).toMatchObject({ text: TEXT, replyCount: 2 });
	await writer.call('chat.update', { channel, ts, text: `${TEXT}, edited` });
	await writer.call('chat.delete', { channel, ts: first });
	await client.settled();
	expect(shown()).toMatchObject({ text: `${TEXT}, edited`, replyCount: 1 });
	await expectScreens(client, reader);
	await writer.call('chat.delete', { channel, ts });
	await client.settled();
	expect(shown()).toMatchObject({ isTombstone: true, text: '', replyCount: 1 });
	await expectScreens(client, reader);
	for (const stop of stops) stop();
	client.disconnect();
});
