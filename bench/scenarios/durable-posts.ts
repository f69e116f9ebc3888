import { WRITER_PRAGMAS } from '../../src/engine/embedded/sqlite/pragmas.ts';
import type { PipelineReport, PipelineSpec } from '../load/pipeline.ts';
import type { LoadSpec } from '../load/posts.ts';
import { bareSqlite } from '../support/bare-sqlite.ts';
import { channelId, Dataset, MESSAGE_TEXT, tokenOf, usersFrom } from '../support/dataset.ts';
import { type Figure, figure, ratio } from '../support/figures.ts';
import { firstIdOf, Load, type Measured, ticketFor } from '../support/load.ts';
import { BUN, ROOT } from '../support/paths.ts';
import { bareBun } from '../support/peers.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { type BenchServer, FLAGS, startServer } from '../support/server.ts';
import { checkStored } from '../support/stored.ts';

/** How many posts per second one process acknowledges, each of them on disk before its answer. */

const TARGET = { atLeast: 20_000 };
const USERS = 16;
const IN_FLIGHT = 64;
/** Connections of each user, for posts over HTTP. */
const CONNECTIONS_EACH = 16;
const MANY = 256;

interface Way {
	readonly name: string;
	readonly kind: LoadSpec['kind'];
	readonly clientMsgIds: boolean;
	/** Users, each posting to their own channel. */
	readonly users: number;
}

const WAYS: readonly Way[] = [
	{ name: 'over sockets', kind: 'socket', clientMsgIds: false, users: USERS },
	{ name: 'over sockets, with client_msg_id', kind: 'socket', clientMsgIds: true, users: USERS },
	{ name: 'over HTTP', kind: 'http', clientMsgIds: false, users: USERS },
	{ name: 'over HTTP, with client_msg_id', kind: 'http', clientMsgIds: true, users: USERS },
	{ name: `over HTTP, to ${MANY} channels`, kind: 'http', clientMsgIds: false, users: MANY },
];

export const durablePosts: Scenario = {
	name: 'durable-posts',
	about: 'Acknowledged durable posts per second, one server process, many clients at once',
	run: async (bench) => {
		if (!WRITER_PRAGMAS.includes('synchronous = FULL')) throw new Error('the store does not write durably');
		const count = bench.pick(5_000, 60_000, 200_000);
		const figures: Figure[] = [];
		for (const way of WAYS) figures.push(...(await postsOver(bench, way, count)));
		figures.push(...(await postsInProcess(bench, count)));
		return {
			configuration: {
				server: `tidemark serve ${FLAGS.join(' ')}; SQLite, ${WRITER_PRAGMAS.join(', ')}`,
				sockets: `${USERS} sockets of ${USERS} users, ${IN_FLIGHT} posts in flight on each; every user posts to a separate channel, so a post is acknowledged and delivered to one socket`,
				HTTP: `chat.postMessage over ${USERS * CONNECTIONS_EACH} keep-alive connections of ${USERS} users, one request at a time each; the same channels`,
				posts: `${count} per round after a fifth of that to warm up; text of ${MESSAGE_TEXT.length} characters`,
				'load generator':
					'one other process on the same machine; with minimal WebSocket and HTTP code over plain TCP',
			},
			figures,
			notes: [
				'After each part the server was killed (-9), and its database had every acknowledged post.',
				'Bare SQLite: rows of the same table and indexes from one thread, 1,000 per commit, without decisions or delivery. Bare Bun: the same load on a server that parses the request and answers ok.',
			],
		};
	},
};

async function postsOver(bench: Bench, way: Way, count: number): Promise<Figure[]> {
	const dataDir = bench.directory(way.name.replaceAll(/\W+/g, '-'));
	const users = await fill(dataDir);
	const server = await startServer(bench, dataDir);
	const bare = await bareBun(bench);
	const warmUp = Math.ceil(count / 5);
	const load = await Load.start(bench, await specFor(server, users, way, warmUp, count));
	const bareLoad = await Load.start(bench, {
		...(await specFor(server, users, way, warmUp, count)),
		port: bare.port,
	});
	const rounds: Measured[] = [];
	const bareRounds: Measured[] = [];
	for (let run = 0; run < bench.runs; run += 1) {
		rounds.push(await load.round(server));
		bareRounds.push(await bareLoad.round({ pids: [bare.pid] }));
		bench.progress(`${way.name}: ${Math.round(perSecond(rounds[run] as Measured))} per second`);
	}
	await server.kill();
	await Promise.all([load.stop(), bareLoad.stop()]);
	verify(dataDir, warmUp + rounds.reduce((sum, { acknowledged }) => sum + acknowledged, 0), rounds);
	return [
		figure(`posts ${way.name}`, '/s', rounds.map(perSecond), TARGET),
		ratio(`posts ${way.name}, against bare Bun answering`, rounds.map(perSecond), bareRounds.map(perSecond)),
		figure(`CPU of a post ${way.name}`, 'µs', rounds.map(cpuMicros)),
		figure(`CPU of bare Bun answering ${way.name}`, 'µs', bareRounds.map(cpuMicros)),
		figure(
			`p99 of a post ${way.name}`,
			'ms',
			rounds.map(({ p99Ms }) => p99Ms),
		),
	];
}

const perSecond = ({ acknowledged, seconds }: Measured): number => acknowledged / seconds;
const cpuMicros = ({ cpuSeconds, acknowledged }: Measured): number => (cpuSeconds / acknowledged) * 1e6;

async function fill(dataDir: string): Promise<string[]> {
	const users = usersFrom(0, MANY);
	const dataset = await Dataset.open(dataDir);
	await dataset.users(users);
	await Promise.all(users.map((user) => dataset.channel([user]).done));
	await dataset.close();
	return users;
}

async function specFor(
	server: BenchServer,
	users: readonly string[],
	{ kind, clientMsgIds, users: posting }: Way,
	warmUp: number,
	count: number,
): Promise<LoadSpec> {
	const isSocket = kind === 'socket';
	const connections = await Promise.all(
		Array.from({ length: isSocket ? posting : USERS * CONNECTIONS_EACH }, async (_, index) => {
			const user = users[index % posting] ?? '';
			return {
				token: tokenOf(user),
				channel: channelId(index % posting),
				firstId: firstIdOf(index),
				...(isSocket ? { ticket: await ticketFor(server.url, tokenOf(user)) } : {}),
			};
		}),
	);
	const inFlight = isSocket ? IN_FLIGHT : 1;
	return { kind, port: server.port, connections, inFlight, warmUp, count, text: MESSAGE_TEXT, clientMsgIds };
}

function verify(dataDir: string, acknowledged: number, rounds: readonly Measured[]): void {
	const rejected = rounds.reduce((sum, round) => sum + round.rejected, 0);
	if (rejected > 0) throw new Error(`${rejected} posts were rejected`);
	checkStored(dataDir, acknowledged);
}

async function postsInProcess(bench: Bench, count: number): Promise<Figure[]> {
	const dataDir = bench.directory('in-process');
	const users = await fill(dataDir);
	const spec: PipelineSpec = {
		dataDir,
		places: users.map((user, index) => ({ user, channel: channelId(index) })).slice(0, USERS),
		inFlight: USERS * IN_FLIGHT,
		count,
		rounds: bench.runs,
		text: MESSAGE_TEXT,
	};
	const child = Bun.spawn([BUN, `${ROOT}/bench/load/pipeline.ts`], {
		stdio: [new TextEncoder().encode(JSON.stringify(spec)), 'pipe', 'inherit'],
	});
	const { perSecond, cpuMicros } = JSON.parse(await new Response(child.stdout).text()) as PipelineReport;
	checkStored(dataDir, count * (bench.runs + 1));
	bench.progress(`in process: ${Math.round(perSecond[0] ?? 0)} per second`);
	const bare = perSecond.map((_, run) => bareSqlite(bench.directory(`bare-${run}`), USERS, count, 1_000));
	return [
		figure('posts in process, no network', '/s', perSecond, TARGET),
		ratio('posts in process, against rows in bare SQLite', perSecond, bare),
		figure('CPU of a post in process', 'µs', cpuMicros),
		figure('rows in bare SQLite', '/s', bare),
	];
}
