import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Call, client } from '../support/api.ts';
import { noRepeats, patientCall } from '../support/chaos/patient-call.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { emptyInstallation } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** Kafka is down: reads and marks continue, and what was acknowledged survives everything that follows. */

let services: OwnServices;
let cluster: TestCluster;

beforeAll(async () => {
	services = await ownServices('kafka');
	cluster = await startCluster({ services: { ...process.env, ...services.env } });
}, 300_000);
afterAll(async () => {
	await cluster?.stop();
	await services?.down();
}, 60_000);

interface Place {
	readonly channel: string;
	/** Of three messages, oldest first. */
	readonly messages: readonly string[];
	/** Of two replies to the first. */
	readonly replies: readonly string[];
}

async function makePlace(name: string, author: Person, readers: readonly Person[]): Promise<Place> {
	const { channel } = await author.call('conversations.create', { name });
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

/** Every kind of change that users make to their own read state, each in a place of its own. */
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

/** Without positions and stamps: what a person sees. */
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

test('a mark that was acknowledged survives its gateway, Kafka and Redis', async () => {
	const { people } = await makeWorkspace(cluster.url, 3);
	const [author, reader, marker] = people as [Person, Person, Person];
	const places: Place[] = [];
	for (const index of CHANGES.keys())
		places.push(await makePlace(`place-${index}`, author, [reader, marker]));
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
}, 300_000);
