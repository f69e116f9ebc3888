import { afterAll, beforeAll, expect, test } from 'bun:test';
import { partitionOf } from '../../src/engine/cluster/kafka/partitioning.ts';
import type { Call } from '../support/api.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { POSTGRES_VARIABLE, setReadOnly } from '../support/postgres.ts';
import { type OwnServices, ownServices } from '../support/services.ts';
import { connect } from '../support/socket.ts';

/** PostgreSQL is down, or rejects writes: every answer is right, and only requests that need PostgreSQL wait for it. */

const WITHIN_MS = 40_000;
const PARTITIONS = 8;
let services: OwnServices;
let cluster: TestCluster;
let admin: Call;
let ada: Person;
let grace: Person;
let channel: string;
/** Another channel in the same partition of the log. */
let neighbour: string;

beforeAll(async () => {
	services = await ownServices('postgres');
	cluster = await startCluster({
		gateways: 1,
		workers: 1,
		services: { ...process.env, ...services.env },
		flags: ['--log-level', 'info'],
	});
	const made = await makeWorkspace(cluster.url, 2);
	admin = made.admin;
	[ada, grace] = made.people as [Person, Person];
	channel = await makeChannel('first');
	for (let number = 0; ; number += 1) {
		neighbour = await makeChannel(`other-${number}`);
		if (partitionOf(neighbour, PARTITIONS) === partitionOf(channel, PARTITIONS)) break;
	}
}, 300_000);
afterAll(async () => {
	await cluster?.stop();
	await services?.down();
}, 60_000);

async function makeChannel(name: string): Promise<string> {
	const { channel } = await ada.call('conversations.create', { name });
	await ada.call('conversations.invite', { channel: channel.id, users: [grace.id] });
	return channel.id;
}

const post = (place: string, text: string, more: object = {}) =>
	ada.call('chat.postMessage', { channel: place, text, ...more });

async function textsIn(place: string, threadTs?: string): Promise<string[]> {
	const { messages } = await ada.call(
		threadTs === undefined ? 'conversations.history' : 'conversations.replies',
		threadTs === undefined ? { channel: place } : { channel: place, ts: threadTs },
	);
	return messages.map(({ text }: { text: string }) => text);
}

/** What the worker reports about PostgreSQL: in /readyz, as metrics, and in its log. */
async function report() {
	const [worker] = cluster.workers;
	const [ready, metrics] = await Promise.all(
		['readyz', 'metrics'].map((path) => fetch(`${worker!.url}/${path}`)),
	);
	const text = await metrics!.text();
	const number = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
	return {
		degraded: ((await ready!.json()) as { degraded: string[] }).degraded.filter((line) =>
			line.startsWith('postgres'),
		),
		metric: text.includes('tidemark_degraded{dependency="postgres"} 1'),
		lag: number('tidemark_persistence_lag_seconds'),
		failed: number('tidemark_failed_writes_total'),
		logged: worker!
			.err()
			.split('\n')
			.filter((line) => line.includes('postgres is unavailable')),
	};
}

test('PostgreSQL is down: a reply is acknowledged with the author of its root, and exists once', async () => {
	const { ts: root } = await post(channel, 'a root');
	await services.stop('postgres', 'crash');
	try {
		const reply = await post(channel, 'a reply', { thread_ts: root });
		expect(reply.message).toMatchObject({ thread_ts: root, parent_user_id: ada.id });
		const { channel: shown } = await ada.call('conversations.setTopic', { channel, topic: 'down' });
		expect(shown).toMatchObject({ id: channel, is_member: true, topic: { value: 'down' } });
	} finally {
		await services.start('postgres');
	}
	expect(await eventually(() => textsIn(channel, root), WITHIN_MS)).toEqual(['a root', 'a reply']);
}, 300_000);

test('PostgreSQL is down: a command that waits for it delays only its own conversation', async () => {
	const { ts: root } = await post(channel, 'an old root');
	// After the outage above, PostgreSQL may lag: the new worker would replay the root, and know it.
	await eventually(async () => expect((await report()).lag).toBe(0), WITHIN_MS);
	const [old] = cluster.workers;
	await cluster.add('worker');
	await cluster.end(old!, 'SIGTERM');
	// The new worker knows both channels, but not their earlier messages.
	for (const place of [channel, neighbour])
		await eventually(() => post(place, 'loaded', { client_msg_id: crypto.randomUUID() }), WITHIN_MS);
	await services.stop('postgres', 'crash');
	const answers: string[] = [];
	const noted = (what: string, asked: Promise<unknown>) => asked.then(() => answers.push(what));
	const waiting: Promise<unknown>[] = [];
	try {
		waiting.push(
			noted('reply', post(channel, 'reply to an old root', { thread_ts: root, reply_broadcast: true })),
		);
		await Bun.sleep(300);
		waiting.push(noted('behind it', post(channel, 'behind it')));
		for (let number = 0; number < 5; number += 1) {
			await post(neighbour, `continues ${number}`, { client_msg_id: `continues-${number}` });
			await post(neighbour, `continues ${number}`, { client_msg_id: `continues-${number}` });
		}
		expect(answers).toEqual([]);
	} finally {
		await services.start('postgres');
	}
	await Promise.all(waiting);
	const texts = await eventually(() => textsIn(channel), WITHIN_MS);
	expect(texts.slice(0, 2)).toEqual(['behind it', 'reply to an old root']);
	expect((await textsIn(neighbour)).slice(0, 5)).toEqual(
		[4, 3, 2, 1, 0].map((number) => `continues ${number}`),
	);
}, 300_000);

const readOnly = (isReadOnly: boolean): Promise<void> =>
	setReadOnly(services.env[POSTGRES_VARIABLE] as string, isReadOnly);

test('PostgreSQL rejects writes: the worker reports it with what to do, and delivers nothing twice', async () => {
	const socket = await connect(grace);
	await post(channel, 'before');
	await eventually(async () => expect((await report()).degraded).toEqual([]), WITHIN_MS);
	const loggedBefore = (await report()).logged.length;
	await readOnly(true);
	const texts = Array.from({ length: 20 }, (_, number) => `read-only ${number}`);
	for (const text of texts) await post(channel, text);
	await eventually(async () => {
		const { degraded, metric, lag, failed } = await report();
		expect(degraded).toHaveLength(1);
		expect(degraded[0]).toContain('rejects writes');
		expect(degraded[0]).toContain('TIDEMARK_POSTGRES_URL');
		expect(metric).toBe(true);
		expect(lag).toBeGreaterThan(2);
		expect(failed).toBeGreaterThan(2);
	}, WITHIN_MS);
	// After a few more attempts.
	const { failed } = await report();
	await eventually(async () => expect((await report()).failed).toBeGreaterThan(failed), WITHIN_MS);
	await socket.settled();
	const delivered = socket.having(({ type, text }) => type === 'message' && texts.includes(text));
	expect(delivered.map(({ text }) => text)).toEqual(texts);
	expect((await report()).logged).toHaveLength(loggedBefore + 1);
	await readOnly(false);
	await eventually(async () => {
		const { degraded, metric, lag } = await report();
		expect({ degraded, metric, lag }).toEqual({ degraded: [], metric: false, lag: 0 });
	}, WITHIN_MS);
	expect((await textsIn(channel)).slice(0, 20)).toEqual(texts.toReversed());
	socket.close();
}, 300_000);

test('PostgreSQL lags: counts are verified as far as it has the messages, and none is reported as drift', async () => {
	const place = await makeChannel('behind');
	await post(place, 'stored');
	await eventually(async () => expect((await report()).lag).toBe(0), WITHIN_MS);
	await readOnly(true);
	try {
		await post(place, 'not stored yet');
		await eventually(async () => {
			const { channels } = await grace.call('client.counts');
			expect(channels).toContainEqual(expect.objectContaining({ id: place, unread_count: 2 }));
		}, WITHIN_MS);
		for (const args of [{ channel: place }, { channel: place, user: grace.id }, { user: grace.id }]) {
			const found = await admin('admin.unreads.verify', { ...args, repair: true });
			expect(found).toMatchObject({ ok: true, drifted: [], repaired: 0 });
		}
		// The count of this user depends on messages that the store lacks.
		expect(await admin('admin.unreads.verify', { channel: place, user: grace.id })).toMatchObject({
			checked: 0,
			total: 1,
		});
		const ready = await fetch(`${cluster.gateways[0]!.url}/readyz`);
		expect(await ready.json()).toMatchObject({ degraded: [] });
	} finally {
		await readOnly(false);
	}
	await eventually(async () => expect((await report()).lag).toBe(0), WITHIN_MS);
	expect(await admin('admin.unreads.verify', { channel: place, repair: true })).toMatchObject({
		checked: 2,
		drifted: [],
	});
}, 300_000);
