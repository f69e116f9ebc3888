import { expect, test } from 'bun:test';
import { setStage } from '../support/chaos/stage.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';

/** What a cluster stands on goes away under load and comes back: nothing that was acknowledged is lost. */

const stage = setStage('postgres', 'kafka');
const AWAY_MS = 10_000;
const TOLD_WITHIN_MS = 20_000;

/** Whether PostgreSQL is away, as each worker tells whoever operates it: in /readyz and as a metric. */
const toldAway = (): Promise<{ ready: boolean; metric: boolean }[]> =>
	Promise.all(
		stage.cluster.workers.map(async ({ url }) => {
			const [ready, metrics] = await Promise.all([fetch(`${url}/readyz`), fetch(`${url}/metrics`)]);
			const { degraded } = (await ready.json()) as { degraded: string[] };
			return {
				ready: degraded.some((line) => /^postgres, since \d{4}-.*: ./.test(line)),
				metric: (await metrics.text()).includes('tidemark_degraded{dependency="postgres"} 1'),
			};
		}),
	);

test('PostgreSQL is unavailable for a while; loaded conversations continue', async () => {
	await stage.underLoad('PostgreSQL away', async (load) => {
		await stage.services.stop('postgres', 'crash');
		await load.acknowledged(200);
		for (let number = 0; number < 20; number += 1) await stage.sendTwice(`while-away-${number}`);
		await Bun.sleep(AWAY_MS);
		// Whoever had to write anything failed three times and more by now.
		await eventually(TOLD_WITHIN_MS, async () =>
			expect(await toldAway()).toContainEqual({ ready: true, metric: true }),
		);
		await stage.services.start('postgres');
	});
	await eventually(TOLD_WITHIN_MS, async () => {
		for (const told of await toldAway()) expect(told).toEqual({ ready: false, metric: false });
	});
});

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
