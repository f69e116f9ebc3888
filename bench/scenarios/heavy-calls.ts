import { rmSync } from 'node:fs';
import { formatTs } from '../../src/model/ts.ts';
import { api } from '../support/api.ts';
import { Dataset, inParts, tokenOf, userId, usersFrom } from '../support/dataset.ts';
import { type Figure, figure, quantile } from '../support/figures.ts';
import { Listeners } from '../support/listeners.ts';
import { ticketFor } from '../support/load.ts';
import { paced } from '../support/paced.ts';
import { needCompiler } from '../support/peers.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { ADMIN_TOKEN, type BenchServer, startServer } from '../support/server.ts';
import { Turns } from '../support/turns.ts';

/** The most expensive calls, and how long another user waits for a post meanwhile. */

const POSTS_A_SECOND = 50;
const AT_ONCE = 8;
const MAX_WAIT_MS = 100;
/** Sockets that one process opens, and tickets that are requested at once. */
const SOCKETS_A_PROCESS = 500;
const TICKETS_AT_ONCE = 50;

const OTHER = userId(0);
const BEHIND = userId(1);
const FOLLOWER = userId(2);
const FIRST_OF_CROWD = 10;

interface Sizes {
	readonly replies: number;
	readonly behind: number;
	readonly crowd: number;
	readonly verified: number;
}

interface Workload {
	readonly calm: string;
	readonly long: string;
	readonly threaded: string;
	readonly root: string;
	readonly crowded: string;
}

interface Measured {
	readonly ownMs: number;
	readonly longestMs: number;
	readonly p99Ms: number;
	readonly turnMs: number;
}

export const heavyCalls: Scenario = {
	name: 'heavy-calls',
	about: 'How long another user waits for a post while the most expensive calls run',
	run: async (bench) => {
		needCompiler();
		const sizes: Sizes = {
			replies: bench.pick(5_000, 50_000, 50_000),
			behind: bench.pick(30_000, 1_100_000, 1_100_000),
			crowd: bench.pick(300, 8_000, 8_000),
			verified: bench.pick(100, 1_000, 1_000),
		};
		const dataDir = bench.directory('data');
		const workload = await fill(bench, dataDir, sizes);
		const measured = new Map<string, Measured[]>();
		for (let run = 0; run < bench.runs; run += 1) {
			const turns = new Turns(`${dataDir}-turns-${run}`);
			const server = await startServer(bench, dataDir, [], turns.environment);
			bench.atEnd(() => rmSync(`${dataDir}-turns-${run}`, { force: true }));
			const crowd = await online(bench, server, sizes.crowd);
			bench.progress(`all connected; longest turn ${turns.longestMs().toFixed(0)} ms of CPU`);
			for (const [name, work] of worksOn(server, workload, sizes)) {
				const result = { ...(await during(server, workload, work)), turnMs: turns.longestMs() };
				measured.set(name, [...(measured.get(name) ?? []), result]);
				bench.progress(
					`${name}: ${result.ownMs.toFixed(0)} ms; another user waited ${result.longestMs.toFixed(0)} ms at most; longest turn ${result.turnMs.toFixed(0)} ms of CPU`,
				);
			}
			await Promise.all(crowd.map((some) => some.stop()));
			await server.stop();
		}
		return {
			configuration: {
				data: `a thread of ${sizes.replies} replies by 300 users; a channel of ${sizes.behind} messages that its ${sizes.crowd} members have not read; a channel of ${sizes.crowd} members who are all online and receive counts`,
				load: `each call once after a start, in this order, on one server; meanwhile another user posts ${POSTS_A_SECOND} times per second to a channel of two`,
				measured:
					'posts at the client, until at least 0.5 s after the call’s answer; each timed from when it was due by the clock',
			},
			figures: [...measured].flatMap(([name, results]) => figuresOf(name, results)),
			notes: ['Everything was written into the data directory beforehand, through the store’s ledger.'],
		};
	},
};

const figuresOf = (name: string, results: readonly Measured[]): Figure[] => {
	const of = (value: (result: Measured) => number) => results.map(value);
	const target = { atMost: MAX_WAIT_MS };
	return [
		figure(
			`${name}: another user’s post, longest`,
			'ms',
			of(({ longestMs }) => longestMs),
			target,
		),
		figure(
			`${name}: longest turn of the event loop, CPU`,
			'ms',
			of(({ turnMs }) => turnMs),
		),
		figure(
			`${name}: another user’s post, p99`,
			'ms',
			of(({ p99Ms }) => p99Ms),
		),
		figure(
			`${name}: the call itself`,
			'ms',
			of(({ ownMs }) => ownMs),
		),
	];
};

type Work = () => Promise<unknown>;

function worksOn(
	{ url }: BenchServer,
	workload: Workload,
	sizes: Sizes,
): readonly (readonly [string, Work])[] {
	const many =
		(work: Work): Work =>
		() =>
			Promise.all(Array.from({ length: AT_ONCE }, work));
	const replies = { channel: workload.threaded, ts: workload.root, limit: '1000' };
	return [
		['nothing', () => Bun.sleep(1_000)],
		['eight getView', many(() => api(url, FOLLOWER, 'subscriptions.thread.getView'))],
		['eight conversations.replies', many(() => api(url, FOLLOWER, 'conversations.replies', replies))],
		['client.counts, far behind', () => api(url, BEHIND, 'client.counts')],
		['client.explain, far behind', () => api(url, BEHIND, 'client.explain')],
		[
			'conversations.unreads, far behind',
			() => api(url, BEHIND, 'conversations.unreads', { channel: workload.long }),
		],
		[`verify of ${sizes.verified} users`, () => verify(url, workload.long, sizes.verified)],
		[`a delete with ${sizes.crowd} online`, () => postAndDelete(url, workload.crowded)],
	];
}

async function verify(url: string, channel: string, sample: number): Promise<void> {
	const response = await fetch(`${url}/api/admin.unreads.verify`, {
		method: 'POST',
		headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
		body: new URLSearchParams({ channel, sample: `${sample}` }),
		// On a busy machine this takes longer than Bun's default of five minutes.
		timeout: false,
	});
	const answer = (await response.json()) as { ok: boolean; checked?: number };
	if (!answer.ok || !answer.checked) throw new Error(`verify: ${JSON.stringify(answer)}`);
}

async function postAndDelete(url: string, channel: string): Promise<void> {
	const author = userId(FIRST_OF_CROWD);
	const { ts } = await api<{ ts: string }>(url, author, 'chat.postMessage', {
		channel,
		text: '<!here> hello',
	});
	await api(url, author, 'chat.delete', { channel, ts });
}

/** Posts as the other user during the work and at least 0.5 s longer. */
async function during(
	{ url }: BenchServer,
	{ calm }: Workload,
	work: Work,
): Promise<Omit<Measured, 'turnMs'>> {
	const state = { isDone: false };
	const began = performance.now();
	let ownMs = 0;
	const working = work().then(async () => {
		ownMs = performance.now() - began;
		await Bun.sleep(500);
		state.isDone = true;
	});
	const waits: number[] = [];
	while (!state.isDone) {
		const post = (index: number) =>
			api(url, OTHER, 'chat.postMessage', { channel: calm, text: `post ${index}` });
		for (const { ms } of await paced(POSTS_A_SECOND, 0.5, post)) waits.push(ms);
	}
	await working;
	return { ownMs, longestMs: Math.max(...waits), p99Ms: quantile(waits, 0.99) };
}

async function fill(bench: Bench, dataDir: string, sizes: Sizes): Promise<Workload> {
	const dataset = await Dataset.open(dataDir);
	const crowd = usersFrom(FIRST_OF_CROWD, sizes.crowd);
	await dataset.users([OTHER, BEHIND, FOLLOWER, ...crowd]);
	const authors = crowd.slice(0, 300);
	const authorAt = (index: number) => authors[index % authors.length] ?? '';
	const channels = [
		dataset.channel([OTHER, userId(FIRST_OF_CROWD)]),
		dataset.channel([BEHIND, ...crowd]),
		dataset.channel([FOLLOWER, ...crowd.slice(0, 300)]),
		dataset.channel(crowd),
	];
	await Promise.all(channels.map(({ done }) => done));
	const [calm, long, threaded, crowded] = channels.map(({ conversation }) => conversation);
	if (!calm || !long || !threaded || !crowded) throw new Error('no channels');
	await dataset.history(long, sizes.behind, (index) => ({
		user: authorAt(index),
		named: index % 1_000 === 0 ? [BEHIND] : index % 50 === 0 ? [authorAt(index * 7)] : [],
	}));
	const [root = 0] = await dataset.history(threaded, 1, () => ({ user: FOLLOWER }));
	await dataset.history(threaded, sizes.replies, (index) => ({ user: authorAt(index), threadTs: root }));
	await dataset.follow(threaded, FOLLOWER, root);
	await dataset.close();
	bench.progress(`${sizes.behind + sizes.replies} messages, ${sizes.crowd} users`);
	return { calm: calm.id, long: long.id, threaded: threaded.id, root: formatTs(root), crowded: crowded.id };
}

async function online(bench: Bench, { url, port }: BenchServer, count: number): Promise<Listeners[]> {
	const listeners: Listeners[] = [];
	const users = usersFrom(FIRST_OF_CROWD, count);
	await inParts(count, SOCKETS_A_PROCESS, async (from, to) => {
		const paths: string[] = [];
		await inParts(to - from, TICKETS_AT_ONCE, async (first, end) => {
			const some = users.slice(from + first, from + end);
			const tickets = await Promise.all(
				some.map((user) => ticketFor(url, tokenOf(user), { counts: 'true' })),
			);
			for (const ticket of tickets) paths.push(`/rtm/${ticket}`);
		});
		listeners.push(await Listeners.connect(bench, port, paths));
	});
	return listeners;
}
