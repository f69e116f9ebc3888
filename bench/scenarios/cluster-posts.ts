import { benchCluster, CLUSTER_IN_WORDS } from '../support/cluster.ts';
import { CostMeter } from '../support/cost-meter.ts';
import { MESSAGE_TEXT, tokenOf, usersFrom } from '../support/dataset.ts';
import { type Figure, figure, quantile } from '../support/figures.ts';
import { firstIdOf, Load, type Measured } from '../support/load.ts';
import { comparePosts, POSTERS, postConfiguration, postsARound, startPosts } from '../support/post-cost.ts';
import type { Bench, Scenario } from '../support/scenario.ts';

/** On Kafka, Redis and PostgreSQL: the cost of a post for any number of members, and the time to its answer. */

const SMALL = 10;
const ANSWERS = 300;
/** As many at once as in durable-posts, which measures the same on one machine. */
const WRITERS = 16;
const CONNECTIONS_EACH = 16;
const AT_ONCE = WRITERS * CONNECTIONS_EACH;

/** A channel, and the user who posts to it. */
interface Busy {
	readonly channel: string;
	readonly user: string;
}

export const clusterPosts: Scenario = {
	name: 'cluster-posts',
	about:
		'In a cluster: cost of a post to a large conversation against a small one, and the time of an answer',
	run: async (bench) => {
		const large = bench.pick(5_000, 100_000, 500_000);
		const cluster = await benchCluster(bench);
		const crowd = usersFrom(0, large);
		const few = usersFrom(large, SMALL);
		const writers = usersFrom(large + SMALL, WRITERS);
		let channels: readonly string[] = [];
		let busy: readonly Busy[] = [];
		await cluster.fill(async (dataset) => {
			bench.progress(`making ${large} members`);
			await dataset.users([...crowd.slice(0, POSTERS), ...few]);
			await dataset.users(writers);
			const made = [dataset.channel(crowd), dataset.channel(few)];
			const many = writers.map((user) => dataset.channel([user]));
			await Promise.all([...made, ...many].map(({ done }) => done));
			channels = made.map(({ conversation }) => conversation.id);
			busy = many.map(({ conversation }, index) => ({
				channel: conversation.id,
				user: writers[index] ?? '',
			}));
		});
		const server = await cluster.start();
		const [big = '', little = ''] = channels;
		const post = async (): Promise<number> => {
			const began = performance.now();
			const response = await fetch(`${server.url}/api/chat.postMessage`, {
				method: 'POST',
				headers: {
					authorization: `Bearer ${tokenOf(few[0] ?? '')}`,
					'content-type': 'application/json; charset=utf-8',
				},
				body: JSON.stringify({ channel: little, text: 'one at a time' }),
			});
			const { ok, error } = (await response.json()) as { ok: boolean; error?: string };
			if (!ok) throw new Error(`chat.postMessage answered ${error}`);
			return performance.now() - began;
		};
		const answers: number[][] = [];
		for (let run = 0; run < bench.runs + 1; run += 1) {
			const times: number[] = [];
			for (let index = 0; index < ANSWERS; index += 1) times.push(await post());
			// The first round is for warming up.
			if (run > 0) answers.push(times);
		}
		const figures = await comparePosts(
			bench,
			server,
			{ what: `${large} members`, channel: big, posters: crowd.slice(0, POSTERS) },
			{ what: `${SMALL} members`, channel: little, posters: few.slice(0, POSTERS) },
			1.2,
		);
		const load = await startPosts(bench, server, { channel: little, posters: few.slice(0, POSTERS) });
		const meter = await CostMeter.of(bench, cluster, server.roles);
		bench.progress('measuring what each process spends on a post');
		const costs = await meter.during(postsARound(bench) * bench.runs, '', async () => {
			for (let run = 0; run < bench.runs; run += 1) await load.round(server);
		});
		await load.stop();
		costs.push(...(await manyAtOnce(bench, server, meter, busy)));
		await server.stop();
		return {
			configuration: {
				...postConfiguration(bench),
				server: CLUSTER_IN_WORDS,
				CPU: 'of gateway and worker together',
				'per post':
					'figures with “per post”: the cost of all posts, minus that of the same time without load, divided by their number',
				'many at once': `chat.postMessage with client_msg_id over ${AT_ONCE} keep-alive connections of ${WRITERS} users, one request at a time each; every user posts to a separate channel`,
				answers: `${ANSWERS} posts per run over one connection, one after the other, without other load`,
			},
			figures: [
				figure(
					'answer to a post, median',
					'ms',
					answers.map((times) => quantile(times, 0.5)),
					{ atMost: 15 },
				),
				figure(
					'answer to a post, p99',
					'ms',
					answers.map((times) => quantile(times, 0.99)),
				),
				...figures,
				...costs,
			],
			notes: [
				'Members were written into the database beforehand, with the same fact as creating the channel.',
			],
		};
	},
};

/** The cost of a post under load, and the posts per second with everything on this machine. */
async function manyAtOnce(
	bench: Bench,
	server: { readonly port: number; readonly pids: readonly number[] },
	meter: CostMeter,
	busy: readonly Busy[],
): Promise<Figure[]> {
	const how = `, ${AT_ONCE} at once`;
	const count = postsARound(bench) * 2;
	const load = await Load.start(bench, {
		kind: 'http',
		port: server.port,
		connections: Array.from({ length: AT_ONCE }, (_, index) => {
			const { channel, user } = busy[index % busy.length] as Busy;
			return { token: tokenOf(user), channel, firstId: firstIdOf(index) };
		}),
		inFlight: 1,
		warmUp: count,
		count,
		text: MESSAGE_TEXT,
		clientMsgIds: true,
	});
	bench.progress(`posting ${AT_ONCE} at once`);
	const rounds: Measured[] = [];
	const costs = await meter.during(count * bench.runs, how, async () => {
		for (let run = 0; run < bench.runs; run += 1) rounds.push(await load.round(server));
	});
	await load.stop();
	const rejected = rounds.reduce((sum, round) => sum + round.rejected, 0);
	if (rejected > 0) throw new Error(`${rejected} posts were rejected`);
	return [
		figure(
			`posts per second${how}`,
			'/s',
			rounds.map(({ acknowledged, seconds }) => acknowledged / seconds),
			{ atLeast: 5_000 },
		),
		figure(
			`answer to a post${how}, p99`,
			'ms',
			rounds.map(({ p99Ms }) => p99Ms),
		),
		...costs,
	];
}
