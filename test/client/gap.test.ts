import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Network } from '../support/client/network.ts';
import { expectScreens } from '../support/client/screens.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { makeSharedChannel } from '../support/client/shared-channel.ts';
import { freshCounts, shownCounts, watchEverything } from '../support/client/shown.ts';
import { startServer, type TestServer } from '../support/server.ts';

/**
 * A frame is lost, but the connection stays: `prev_ts` of the next message reveals the gap, and the client reloads
 * everything.
 */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

async function stage() {
	const { reader: watched, writer: other, channel, post } = await makeSharedChannel(server.url);
	await post('before');
	const network = new Network();
	const client = sdk(server.url, watched, { ...network.options, random: () => 0 });
	await client.connect();
	const stop = watchEverything(client);
	await client.settled();
	const end = () => {
		stop();
		client.disconnect();
	};
	/** The next message reveals the gap; the client reloads everything, and its state is right. */
	const mended = async () => {
		await post('after');
		await network.served('client.counts', 2);
		await expectExact(client, watched);
		await expectScreens(client, watched);
		end();
	};
	return { watched, other, channel, post, network, client, end, mended };
}

test('a message that never arrived', async () => {
	const { client, network, post, watched, mended } = await stage();
	network.drop(({ type, text }) => type === 'message' && text === 'lost');
	await post('lost');
	await client.settled();
	expect(shownCounts(client)).not.toEqual(await freshCounts(watched));
	await mended();
});

test('a deletion that never arrived, and neither did the counts after it', async () => {
	const { client, network, post, watched, other, channel, mended } = await stage();
	const ts = await post('a mistake');
	await client.settled();
	network.drop(({ type, subtype }) => subtype === 'message_deleted' || type === 'unread_counts_updated', 2);
	await other.call('chat.delete', { channel, ts });
	await client.settled();
	expect(shownCounts(client)).not.toEqual(await freshCounts(watched));
	await mended();
});

test('deletions, replies and broadcasts in between are not gaps', async () => {
	const { client, network, post, watched, other, channel, end } = await stage();
	const root = await post('root');
	const reply = { channel, thread_ts: root, text: 'reply' };
	await other.call('chat.postMessage', reply);
	await other.call('chat.postMessage', { ...reply, reply_broadcast: true });
	for (const text of ['one', 'two']) {
		const ts = await post(text);
		const deleted = other.call('chat.delete', { channel, ts });
		await Promise.all([deleted, post('at once')]);
	}
	await other.call('chat.delete', { channel, ts: root });
	await post('last');
	await expectExact(client, watched);
	await expectScreens(client, watched);
	expect(network.callsOf('client.counts')).toHaveLength(1);
	end();
});
