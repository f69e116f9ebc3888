import { benchCluster, CLUSTER_IN_WORDS } from '../support/cluster.ts';
import { tokenOf, usersFrom } from '../support/dataset.ts';
import { figure, quantile } from '../support/figures.ts';
import { comparePosts, POSTERS, postConfiguration, postsARound, startPosts } from '../support/post-cost.ts';
import type { Scenario } from '../support/scenario.ts';
import { Spent } from '../support/spent.ts';

/** On Kafka, Redis and PostgreSQL: what a post costs whatever the number of members, and how long its answer takes. */

const SMALL = 10;
const ANSWERS = 300;

export const clusterPosts: Scenario = {
	name: 'cluster-posts',
	about:
		'In a cluster: cost of a post to a large conversation against a small one, and the time of an answer',
	run: async (bench) => {
		const large = bench.pick(5_000, 100_000, 500_000);
		const cluster = await benchCluster(bench);
		const crowd = usersFrom(0, large);
		const few = usersFrom(large, SMALL);
		let channels: readonly string[] = [];
		await cluster.fill(async (dataset) => {
			bench.progress(`making ${large} members`);
			await dataset.users([...crowd.slice(0, POSTERS), ...few]);
			const made = [dataset.channel(crowd), dataset.channel(few)];
			await Promise.all(made.map(({ done }) => done));
			channels = made.map(({ conversation }) => conversation.id);
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
			// The first round is to warm up.
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
		const spent = await Spent.of(bench, cluster, server.roles);
		bench.progress('measuring what each process spends on a post');
		const costs = await spent.during(postsARound(bench), async () => {
			await load.round(server);
		});
		await load.stop();
		await server.stop();
		return {
			configuration: {
				...postConfiguration(bench),
				server: CLUSTER_IN_WORDS,
				CPU: 'of gateway and worker together',
				'a post': 'figures that end so: of one round, less what the same time costs while nothing happens',
				answers: `${ANSWERS} posts a run over one connection, one after the other, nothing else going on`,
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
				'Members were written into the database beforehand, as the fact that creating the channel writes.',
			],
		};
	},
};
