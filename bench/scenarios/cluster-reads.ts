import { Redis } from 'ioredis';
import { benchCluster, CLUSTER_IN_WORDS } from '../support/cluster.ts';
import { crowdUser, makeCrowd } from '../support/crowd.ts';
import { channelId, tokenOf } from '../support/dataset.ts';
import { type Figure, figure, quantile } from '../support/figures.ts';
import { fillHalfRead, MESSAGES_EACH, readerOf } from '../support/half-read.ts';
import { fillMarked, MARKERS, type Marked, marksAtOnce } from '../support/marks-at-once.ts';
import type { Scenario } from '../support/scenario.ts';
import { boundMsBetween, meanMsBetween, serverTimes } from '../support/server-times.ts';

/** On Kafka, Redis and PostgreSQL: counts and marks, and counts after Redis was emptied. */

const MARKS = 400;
/** Kafka has just started: until some thousand requests later, its JIT compiler takes CPU from the other processes. */
const FIRST_WARM_UP = 16 * MARKS;
/** Milliseconds, p99 on the server. */
const TARGETS: Readonly<Record<number, number>> = { 50: 2, 1000: 6, 100000: 250 };

const callsFor = (size: number): number => (size > 10_000 ? 30 : size > 100 ? 500 : 1_000);

export const clusterReads: Scenario = {
	name: 'cluster-reads',
	about:
		'In a cluster: client.counts in few and many conversations, a read mark, and counts after Redis was emptied',
	run: async (bench) => {
		const sizes = bench.pick([50], [50, 1_000], [50, 1_000, 100_000]);
		const cluster = await benchCluster(bench);
		const crowd = bench.pick(100, 1_000, 1_000);
		let marked: Marked = { channel: '', users: [] };
		await cluster.fill(async (dataset) => {
			await dataset.users([crowdUser(1)]);
			await fillHalfRead(bench, dataset, sizes);
			marked = await fillMarked(dataset);
		});
		bench.progress(`making ${crowd * crowd} cursors and as many messages`);
		await makeCrowd(cluster.postgresUrl, crowd);
		const server = await cluster.start();
		const redis = new Redis(cluster.redisUrl);
		bench.atEnd(() => redis.disconnect());
		const counts = sizes.map(() => [] as Round[]);
		const marks: MarksRound[] = [];
		const marksASecond: number[] = [];
		const restored: number[] = [];
		const first = sizes.map(() => [] as number[]);
		for (let run = 0; run < bench.runs; run += 1) {
			for (const [index, size] of sizes.entries()) {
				first[index]?.push((await call(server.url, readerOf(size), 'client.counts')).ms);
				counts[index]?.push(await countsRound(server.url, size));
			}
			marks.push(await marksRound(server.url, run));
			marksASecond.push(await marksAtOnce(server.url, marked, run, bench.runs));
			const before = await rowsOf(server.url, crowdUser(1));
			await redis.flushall();
			const began = performance.now();
			const after = await untilAnswered(server.url, crowdUser(1));
			restored.push((performance.now() - began) / 1000);
			if (after !== before) throw new Error('the counts differ from those before Redis was emptied');
			bench.progress(`counts again after ${restored.at(-1)?.toFixed(1)} s`);
		}
		await server.stop();
		return {
			configuration: {
				server: CLUSTER_IN_WORDS,
				data: `every conversation has ${MESSAGES_EACH} messages; the user has read every second conversation`,
				calls: sizes.map((size) => `${callsFor(size)} (in ${size})`).join(', '),
				marks: `${MARKS} of conversations.mark, one after the other, each moving the cursor`,
				'marks per second': `${MARKERS} members of one conversation, each marking one message further over HTTP as soon as the previous mark is answered`,
				'Redis emptied': `${crowd} users, all in the same ${crowd} conversations of ${crowd} messages each (${crowd * crowd} cursors, ${crowd * crowd} messages), with 50 unread in each; FLUSHALL, then client.counts of one of them until it answers; the answer must be the same as before`,
				measured: `“at the client” includes HTTP and the client’s work on the same machine; “on the server” is from the gateway’s histogram, whose bounds are 0.5, 1, 2, 4, 6, 10, 20, 50, 100, 150, 250 … ms; both after half as many calls to warm up (${FIRST_WARM_UP} before the first marks: Kafka has just started)`,
			},
			figures: [
				...sizes.flatMap((size, index) => countsFigures(size, counts[index] ?? [], first[index] ?? [])),
				...markFigures(marks),
				figure('marks per second in one conversation', '/s', marksASecond, { atLeast: 1_000 }),
				figure('Redis emptied: until counts are answered again, the same as before', 's', restored, {
					atMost: 5,
				}),
			],
			notes: [
				'A mark takes two round trips to Redis. Then the gateway appends it to Kafka and, at the same time, computes the counts with a third round trip to Redis. It answers when both are done.',
				'The time until counts are answered again includes up to 0.5 s until a worker notices, and a wait of 0.4 s until earlier marks are in the log.',
			],
		};
	},
};

function countsFigures(size: number, rounds: readonly Round[], firstCalls: readonly number[]): Figure[] {
	const of = (value: (round: Round) => number) => rounds.map(value);
	const target = TARGETS[size];
	const bounds = of(({ bound }) => bound);
	const p99s = of(({ p99 }) => p99);
	const p50s = of(({ p50 }) => p50);
	const means = of(({ mean }) => mean);
	return [
		figure(
			`user in ${size} conversations: p99 on the server, upper bound`,
			'ms',
			bounds,
			target === undefined ? undefined : { atMost: target },
		),
		figure(`user in ${size} conversations: p99 at the client`, 'ms', p99s),
		figure(`user in ${size} conversations: p50 at the client`, 'ms', p50s),
		figure(`user in ${size} conversations: mean on the server`, 'ms', means),
		figure(`user in ${size} conversations: first call, from the database`, 'ms', firstCalls),
	];
}

function markFigures(rounds: readonly MarksRound[]): Figure[] {
	const means = rounds.map(({ server }) => server);
	const bounds = rounds.map(({ bound }) => bound);
	const p95s = rounds.map(({ client }) => client);
	return [
		figure('a mark: mean on the server', 'ms', means),
		figure('a mark: p95 on the server, upper bound', 'ms', bounds),
		figure('a mark: p95 at the client', 'ms', p95s, { atMost: 4 }),
		...(['p50', 'p95'] as const).map((name) =>
			figure(
				`conversations.history of ${MESSAGES_EACH} messages: ${name} at the client`,
				'ms',
				rounds.map(({ histories }) => histories[name]),
			),
		),
	];
}

interface Round {
	readonly p50: number;
	readonly mean: number;
	readonly bound: number;
	readonly p99: number;
}

async function countsRound(url: string, size: number): Promise<Round> {
	const times: number[] = [];
	for (let index = 0; index < callsFor(size) / 2; index += 1)
		await call(url, readerOf(size), 'client.counts');
	const before = await serverTimes(url, 'client.counts');
	for (let index = 0; index < callsFor(size); index += 1)
		times.push((await call(url, readerOf(size), 'client.counts')).ms);
	const after = await serverTimes(url, 'client.counts');
	return {
		p50: quantile(times, 0.5),
		mean: meanMsBetween(before, after),
		bound: boundMsBetween(before, after, 0.99),
		p99: quantile(times, 0.99),
	};
}

type MarksRound = Awaited<ReturnType<typeof marksRound>>;

/** Marks messages unread before each mark, so that the mark changes something. */
async function marksRound(url: string, run: number) {
	const reader = readerOf(50);
	const mark = async (index: number): Promise<{ mark: number; history: number }> => {
		const channel = channelId(1 + ((run * MARKS + index) % 24) * 2);
		const page = await call(url, reader, 'conversations.history', { channel, limit: String(MESSAGES_EACH) });
		const { messages } = JSON.parse(page.body) as { messages: { ts: string }[] };
		const ts = messages[0]?.ts ?? '';
		await call(url, reader, 'conversations.markUnread', { channel, ts: messages.at(-1)?.ts ?? '' });
		return { mark: (await call(url, reader, 'conversations.mark', { channel, ts })).ms, history: page.ms };
	};
	const warmUp = run === 0 ? FIRST_WARM_UP : MARKS / 2;
	for (let index = 0; index < warmUp; index += 1) await mark(index);
	const before = await serverTimes(url, 'conversations.mark');
	const times: Awaited<ReturnType<typeof mark>>[] = [];
	for (let index = 0; index < MARKS; index += 1) times.push(await mark(index));
	const after = await serverTimes(url, 'conversations.mark');
	const histories = times.map(({ history }) => history);
	return {
		histories: { p50: quantile(histories, 0.5), p95: quantile(histories, 0.95) },
		client: quantile(
			times.map(({ mark }) => mark),
			0.95,
		),
		server: meanMsBetween(before, after),
		bound: boundMsBetween(before, after, 0.95),
	};
}

/** Rows without their positions, which keep rising. */
async function rowsOf(url: string, user: string): Promise<string> {
	const { body } = await call(url, user, 'client.counts');
	const { channels, badge } = JSON.parse(body) as {
		channels: { id: string; unread_count: number; mention_count: number; last_read: string }[];
		badge: number;
	};
	const rows = channels.map((row) => [row.id, row.unread_count, row.mention_count, row.last_read].join());
	return `${badge} ${rows.sort().join(' ')}`;
}

async function untilAnswered(url: string, user: string): Promise<string> {
	for (const end = performance.now() + 60_000; ; ) {
		try {
			return await rowsOf(url, user);
		} catch (error) {
			if (performance.now() > end) throw error;
			await Bun.sleep(50);
		}
	}
}

async function call(
	url: string,
	user: string,
	method: string,
	args: Record<string, string> = {},
): Promise<{ ms: number; body: string }> {
	const began = performance.now();
	const response = await fetch(`${url}/api/${method}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${tokenOf(user)}` },
		body: new URLSearchParams(args),
	});
	const body = await response.text();
	const ms = performance.now() - began;
	if (!body.startsWith('{"ok":true')) throw new Error(`${method}: ${body.slice(0, 200)}`);
	return { ms, body };
}
