import { channelId, Dataset, inParts, tokenOf, userId } from '../support/dataset.ts';
import { figure, quantile } from '../support/figures.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { type BenchServer, startServer } from '../support/server.ts';
import { boundMsBetween, meanMsBetween, serverTimes } from '../support/server-times.ts';

/** The list of conversations by latest activity, for a user in very many. */

const AUTHOR = userId(0);
const HALF_READ = userId(1);
const NEARLY_ALL_READ = userId(2);
const MESSAGES_EACH = 3;
/** The unread conversations of the second user: at the end of the list, which is the worst case. */
const OLDEST_UNREAD = 5;
const CALLS = 1_000;
const PAGES = 5;
/** Conversations that change between two lists: not those that have to stay unread. */
const FIRST_USED = 50;
const CHANNELS_USED = 900;
/** Milliseconds, p99 on the server. */
const TARGET = 5;

interface Way {
	readonly name: string;
	readonly user: string;
	readonly unreadFirst: boolean;
}

const WAYS: readonly Way[] = [
	{ name: 'by activity', user: HALF_READ, unreadFirst: false },
	{ name: 'unread first, half unread', user: HALF_READ, unreadFirst: true },
	{ name: `unread first, the oldest ${OLDEST_UNREAD} unread`, user: NEARLY_ALL_READ, unreadFirst: true },
];

export const inboxList: Scenario = {
	name: 'inbox-list',
	about: 'inbox.list of 20 for users in very many conversations, in both orders',
	run: async (bench) => {
		const size = bench.pick(1_000, 100_000, 100_000);
		const dataDir = bench.directory('data');
		await fill(bench, dataDir, size);
		const rounds = WAYS.map(() => [] as Round[]);
		for (let run = 0; run < bench.runs; run += 1) {
			const server = await startServer(bench, dataDir);
			for (const [index, way] of WAYS.entries()) {
				const round = await measure(server, way);
				rounds[index]?.push(round);
				bench.progress(
					`${way.name}: first ${round.first.toFixed(1)} ms, then p99 ${round.p99.toFixed(2)} ms`,
				);
			}
			await server.stop();
		}
		return {
			configuration: {
				data: `${size} conversations of ${MESSAGES_EACH} messages each; one user has read every second conversation, another all but the ${OLDEST_UNREAD} oldest`,
				calls: `${CALLS} in each order, repeatedly through ${PAGES} pages of 20, after half as many to warm up; before each first page another user posts, and the user reads that and another conversation`,
				measured:
					'at the client over one keep-alive connection; “on the server” from the server’s histogram, whose bounds are 0.5, 1, 2, 4, 6, 10, 20, 50 … ms',
			},
			figures: WAYS.flatMap(({ name }, index) => {
				const of = (value: (round: Round) => number) => (rounds[index] ?? []).map(value);
				return [
					figure(
						`${name}: p99 on the server, upper bound`,
						'ms',
						of(({ bound }) => bound),
						{ atMost: TARGET },
					),
					figure(
						`${name}: p99 at the client`,
						'ms',
						of(({ p99 }) => p99),
					),
					figure(
						`${name}: first pages alone, p99 at the client`,
						'ms',
						of(({ top }) => top),
					),
					figure(
						`${name}: mean on the server`,
						'ms',
						of(({ mean }) => mean),
					),
					figure(
						`${name}: first call after a start`,
						'ms',
						of(({ first }) => first),
					),
				];
			}),
			notes: [
				'Conversations and messages were written into the data directory beforehand, through the store’s ledger.',
				'The first call in the first order loads all conversations into memory; later calls find them there.',
			],
		};
	},
};

async function fill(bench: Bench, dataDir: string, size: number): Promise<void> {
	const dataset = await Dataset.open(dataDir);
	bench.progress(`making ${size} conversations`);
	await dataset.users([AUTHOR, HALF_READ, NEARLY_ALL_READ]);
	await inParts(size, 1_000, async (from, to) => {
		const work: Promise<void>[] = [];
		for (let index = from; index < to; index += 1) {
			const readers = [
				...(index % 2 === 0 ? [HALF_READ] : []),
				...(index >= OLDEST_UNREAD ? [NEARLY_ALL_READ] : []),
			];
			const { conversation, done } = dataset.channel([AUTHOR, HALF_READ, NEARLY_ALL_READ]);
			work.push(done, dataset.messages(conversation, AUTHOR, MESSAGES_EACH, readers));
		}
		await Promise.all(work);
	});
	await dataset.close();
}

interface Round {
	readonly first: number;
	readonly p99: number;
	/** p99 of first pages, which take longer than later ones. */
	readonly top: number;
	readonly mean: number;
	readonly bound: number;
}

async function measure(server: BenchServer, way: Way): Promise<Round> {
	const first = (await call(server, way, '')).ms;
	await pages(server, way, CALLS / 2);
	const before = await serverTimes(server.url, 'inbox.list');
	const { all, tops } = await pages(server, way, CALLS);
	const after = await serverTimes(server.url, 'inbox.list');
	return {
		first,
		p99: quantile(all, 0.99),
		top: quantile(tops, 0.99),
		mean: meanMsBetween(before, after),
		bound: boundMsBetween(before, after, 0.99),
	};
}

async function pages(server: BenchServer, way: Way, calls: number) {
	const all: number[] = [];
	const tops: number[] = [];
	let cursor = '';
	for (let index = 0; index < calls; index += 1) {
		if (index % PAGES === 0) {
			cursor = '';
			await changeConversations(server, way, index);
		}
		const { ms, next } = await call(server, way, cursor);
		all.push(ms);
		if (cursor === '') tops.push(ms);
		cursor = next;
	}
	return { all, tops };
}

/** Another user posts, and the user reads that conversation and another one: without changes, a list would come from a cache. */
async function changeConversations({ url }: BenchServer, { user }: Way, index: number): Promise<void> {
	const [posted = '', read = ''] = [index, index + 1].map((one) =>
		channelId(FIRST_USED + ((one * 7) % CHANNELS_USED)),
	);
	await method(url, AUTHOR, 'chat.postMessage', { channel: posted, text: 'again' });
	for (const channel of [posted, read])
		await method(url, user, 'conversations.mark', { channel, ts: '9999999999.000000' });
}

async function method(url: string, user: string, name: string, args: Record<string, string>) {
	const response = await fetch(`${url}/api/${name}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${tokenOf(user)}` },
		body: new URLSearchParams(args),
	});
	const body = (await response.json()) as {
		ok: boolean;
		items?: unknown[];
		response_metadata?: { next_cursor: string };
	};
	if (!body.ok) throw new Error(`${name}: ${JSON.stringify(body)}`);
	return body;
}

async function call({ url }: BenchServer, { user, unreadFirst }: Way, cursor: string) {
	const args = { limit: '20', unread_first: String(unreadFirst), ...(cursor ? { cursor } : {}) };
	const started = performance.now();
	const { items, response_metadata } = await method(url, user, 'inbox.list', args);
	const ms = performance.now() - started;
	if (items?.length !== 20) throw new Error(`inbox.list: ${items?.length} items`);
	return { ms, next: response_metadata?.next_cursor ?? '' };
}
