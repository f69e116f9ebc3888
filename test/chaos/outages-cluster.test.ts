import { expect, test } from 'bun:test';
import { type Call, client } from '../support/api.ts';
import { noRepeats, patientCall } from '../support/chaos/patient-call.ts';
import { setStage } from '../support/chaos/stage.ts';
import { Watcher } from '../support/chaos/watcher.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { dropConnections, POSTGRES_VARIABLE, setReadOnly } from '../support/postgres.ts';
import { emptyInstallation } from '../support/redis-nodes.ts';

/** PostgreSQL or Kafka fails under load and returns: acknowledged changes are not lost. */

const stage = setStage({ own: ['postgres', 'kafka'] });
const REPORTED_WITHIN_MS = 60_000;
const postgres = (): string => stage.services.env[POSTGRES_VARIABLE] as string;

/** Whether each worker reports PostgreSQL as unavailable: in /readyz and as a metric. */
const reportedUnavailable = (): Promise<{ ready: boolean; metric: boolean }[]> =>
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

test('PostgreSQL is unavailable for a while: loaded conversations continue', async () => {
	await stage.underLoad('PostgreSQL unavailable', async (load) => {
		await stage.services.stop('postgres', 'crash');
		await load.acknowledged(200);
		for (let number = 0; number < 20; number += 1) await stage.sendTwice(`while-away-${number}`);
		// A worker reports it after three failed writes.
		await eventually(
			async () => expect(await reportedUnavailable()).toContainEqual({ ready: true, metric: true }),
			REPORTED_WITHIN_MS,
		);
		await stage.services.start('postgres');
	});
	await eventually(async () => {
		for (const reported of await reportedUnavailable())
			expect(reported).toEqual({ ready: false, metric: false });
	}, REPORTED_WITHIN_MS);
});

test('PostgreSQL rejects writes for a while', () =>
	stage.underLoad('PostgreSQL read-only', async (load) => {
		await setReadOnly(postgres(), true);
		await load.acknowledged(150);
		await setReadOnly(postgres(), false);
	}));

test('PostgreSQL drops every connection, again and again', () =>
	stage.underLoad('PostgreSQL drops connections', async (load) => {
		let dropped = 0;
		for (let round = 0; round < 10; round += 1) {
			dropped += await dropConnections(postgres());
			await load.acknowledged(20);
		}
		expect(dropped).toBeGreaterThan(10);
	}));

/** As after a failover to a replica that was behind. Kafka still has the records that PostgreSQL lost. */
test('PostgreSQL returns with the data of an earlier moment', () =>
	stage.underLoad('PostgreSQL rolled back', async (load) => {
		const data = `${stage.services.directoryOf('postgres')}/data`;
		const whileStopped = async (work: () => Promise<unknown>) => {
			await stage.services.stop('postgres', 'crash');
			await work();
			await stage.services.start('postgres');
		};
		await whileStopped(() => Bun.$`cp -a ${data} ${data}.earlier`);
		await load.acknowledged(300);
		await whileStopped(() => Bun.$`rm -rf ${data} && mv ${data}.earlier ${data}`);
	}));

test('Kafka is killed and started again', () =>
	stage.underLoad('Kafka killed', async () => {
		await stage.services.stop('kafka', 'crash');
		await stage.services.start('kafka');
	}));

test('Kafka hangs: marks and reads continue, and reads show the marks', async () => {
	const { people } = await makeWorkspace(stage.cluster.url, 2);
	const [ada, grace] = people as [Person, Person];
	const channel = (await ada.call('conversations.create', { name: 'hanging' })).channel.id;
	await ada.call('conversations.invite', { channel, users: [grace.id] });
	const { ts } = await ada.call('chat.postMessage', { channel, text: 'the last one' });
	await grace.call('conversations.markUnread', { channel, ts });
	const { position } = await grace.call('client.sync', {
		since: (await grace.call('client.counts')).position,
	});
	// None of these requests waits for Kafka, which would never answer.
	await stage.services.pause('kafka');
	try {
		const marked = await grace.call('conversations.mark', { channel, ts });
		expect(marked).toMatchObject({ last_read: ts, unread_count: 0 });
		const { channels } = await grace.call('client.counts');
		expect(channels).toMatchObject([{ id: channel, last_read: ts }]);
		await ada.call('client.counts');
		const listed = await grace.call('users.conversations');
		expect(listed.channels.map(({ id }: { id: string }) => id)).toEqual([channel]);
		// A device that resumes sees it too.
		const { events } = await grace.call('client.sync', { since: position });
		expect(events).toContainEqual(
			expect.objectContaining({ type: 'channel_marked', channel, ts, position: marked.position }),
		);
		expect((await ada.call('conversations.readers', { channel, ts })).readers).toEqual([grace.id]);
	} finally {
		stage.services.wake('kafka');
	}
});

interface Place {
	readonly channel: string;
	/** The ts of three messages, oldest first. */
	readonly messages: readonly string[];
	/** The ts of two replies to the first message. */
	readonly replies: readonly string[];
}

async function makePlace(name: string, author: Person, readers: readonly Person[]): Promise<Place> {
	// The test before has paused Kafka: the gateway may still treat it as unreachable.
	const { channel } = await eventually(() => author.call('conversations.create', { name }), 20_000);
	await author.call('conversations.invite', { channel: channel.id, users: readers.map(({ id }) => id) });
	const messages: string[] = [];
	for (const text of ['one', 'two', 'three'])
		messages.push((await author.call('chat.postMessage', { channel: channel.id, text })).ts);
	const thread = { channel: channel.id, thread_ts: messages[0] };
	for (const reader of readers) await reader.call('subscriptions.thread.add', thread);
	const replies: string[] = [];
	for (const text of ['first', 'second'])
		replies.push((await author.call('chat.postMessage', { ...thread, text })).ts);
	return { channel: channel.id, messages, replies };
}

/** Every kind of change that users make to their own read state, each in its own conversation. */
const CHANGES: readonly ((call: Call, place: Place) => Promise<unknown>)[] = [
	(call, { channel, messages }) => call('conversations.mark', { channel, ts: messages[1] }),
	async (call, { channel, messages }) => {
		await call('conversations.mark', { channel, ts: messages[2] });
		await call('conversations.markUnread', { channel, ts: messages[1] });
	},
	(call, { channel, messages }) => call('conversations.markMessage', { channel, ts: messages[1] }),
	(call, { channel, messages, replies }) =>
		call('subscriptions.thread.mark', { channel, thread_ts: messages[0], ts: replies[0] }),
	(call, { channel }) => call('conversations.mute', { channel }),
	(call, { channel }) => call('conversations.setNotifications', { channel, level: 'mentions' }),
];

/** The counts without positions and stamps. */
async function shown(call: Call, places: readonly Place[]): Promise<unknown> {
	const { channels, threads, badge } = await call('client.counts');
	const followed = await Promise.all(
		places.map(async ({ channel, messages }) => {
			const answer = await call('subscriptions.thread.get', { channel, thread_ts: messages[0] });
			return [answer.subscription.last_read, answer.subscription.subscribed, answer.unread_count];
		}),
	);
	const rows = channels.map(({ position: _, ...row }: { position: string; id: string }) => row);
	rows.sort((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1));
	const { version: _, ...totals } = threads;
	return { rows, threads: totals, badge, followed };
}

test('a mark that was acknowledged without Kafka is not lost when its gateway stops and Redis is emptied', async () => {
	const { cluster, services } = stage;
	const { people } = await makeWorkspace(cluster.url, 3, 'Marks');
	const [author, reader, marker] = people as [Person, Person, Person];
	const places: Place[] = [];
	for (const index of CHANGES.keys())
		places.push(await makePlace(`place-${index}`, author, [reader, marker]));
	// Connected devices, which every mark reaches.
	const watchers = [reader, marker].map(
		(person) =>
			new Watcher(
				cluster.url,
				person,
				places.map(({ channel }) => channel),
			),
	);
	await Promise.all(watchers.map(({ ready }) => ready));
	const [gateway] = cluster.gateways;
	if (!gateway) throw new Error('no gateway');
	const callOf = ({ token }: Person): Call => client(gateway.url, token);
	await services.stop('kafka', 'crash');
	for (const [index, change] of CHANGES.entries()) await change(callOf(reader), places[index] as Place);
	await callOf(marker)('client.markAllRead');
	const before = await Promise.all([reader, marker].map((one) => shown(callOf(one), places)));
	expect((before[1] as { badge: number }).badge).toBe(0);

	await cluster.end(gateway, 'SIGTERM');
	await services.start('kafka');
	await emptyInstallation(process.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '', cluster.installation);
	const after = await Promise.all(
		[reader, marker].map((one) => shown(patientCall(cluster.url, one, noRepeats()), places)),
	);
	expect(after).toEqual(before);
	await eventually(async () => {
		for (const watcher of watchers) expect(await watcher.differences()).toEqual([]);
	}, REPORTED_WITHIN_MS);
	const received = watchers.reduce((sum, watcher) => sum + watcher.received.marks, 0);
	for (const watcher of watchers) await watcher.stop();
	await cluster.add('gateway');
	console.log(
		`marks without Kafka, gateway stopped, Redis emptied: ${CHANGES.length + 2} acknowledged, 0 lost, 0 duplicated, 0 wrong counts, ` +
			`missed live events: 0 marks (2 clients received ${received})`,
	);
}, 300_000);
