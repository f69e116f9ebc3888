import { expect, test } from 'bun:test';
import { setStage } from '../support/chaos/stage.ts';
import { makeWorkspace, type Person } from '../support/people.ts';

/** What a cluster stands on goes away under load and comes back: nothing that was acknowledged is lost. */

const stage = setStage('postgres', 'kafka');
const AWAY_MS = 10_000;

test('PostgreSQL is away for a while; what is loaded goes on', () =>
	stage.underLoad('PostgreSQL away', async (load) => {
		await stage.services.stop('postgres', 'crash');
		await load.acknowledged(200);
		for (let number = 0; number < 20; number += 1) await stage.sendTwice(`while-away-${number}`);
		await Bun.sleep(AWAY_MS);
		await stage.services.start('postgres');
	}));

test('Kafka is killed and started again', () =>
	stage.underLoad('Kafka killed', async () => {
		await stage.services.stop('kafka', 'crash');
		await stage.services.start('kafka');
	}));

test('Kafka hangs: marks go on, and so does whatever is read, what was marked included', async () => {
	const { people } = await makeWorkspace(stage.cluster.url, 2);
	const [ada, grace] = people as [Person, Person];
	const channel = (await ada.call('conversations.create', { name: 'hanging' })).channel.id;
	await ada.call('conversations.invite', { channel, users: [grace.id] });
	const { ts } = await ada.call('chat.postMessage', { channel, text: 'the last one' });
	await grace.call('conversations.markUnread', { channel, ts });
	const { position } = await grace.call('client.sync', {
		since: (await grace.call('client.counts')).position,
	});
	// Nothing of this waits for Kafka: if it did, it would wait for ever.
	stage.services.pause('kafka');
	try {
		const marked = await grace.call('conversations.mark', { channel, ts });
		expect(marked).toMatchObject({ last_read: ts, unread_count: 0 });
		const { channels } = await grace.call('client.counts');
		expect(channels).toMatchObject([{ id: channel, last_read: ts }]);
		await ada.call('client.counts');
		const listed = await grace.call('users.conversations');
		expect(listed.channels.map(({ id }: { id: string }) => id)).toEqual([channel]);
		// To a device that comes back.
		const { events } = await grace.call('client.sync', { since: position });
		expect(events).toContainEqual(
			expect.objectContaining({ type: 'channel_marked', channel, ts, position: marked.position }),
		);
		expect((await ada.call('conversations.readers', { channel, ts })).readers).toEqual([grace.id]);
	} finally {
		stage.services.wake('kafka');
	}
});
