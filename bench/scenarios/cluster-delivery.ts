import { benchCluster } from '../support/cluster.ts';
import { needCompiler } from '../support/peers.ts';
import type { Scenario } from '../support/scenario.ts';
import {
	MEMBERS,
	SteadyPosts,
	steadyConfiguration,
	steadyFigures,
	steadyRounds,
} from '../support/steady-posts.ts';

/** From a post to its delivery through Kafka and Redis: at the rate that is aimed at, and at one that leaves room. */

const POSTS_PER_SECOND = [200, 1_000] as const;

export const clusterDelivery: Scenario = {
	name: 'cluster-delivery',
	about: `In a cluster: from post to delivery, ${POSTS_PER_SECOND.join(' and ')} posts a second into conversations of ${MEMBERS} online members`,
	run: async (bench) => {
		needCompiler();
		const seconds = bench.pick(1, 10, 30);
		const cluster = await benchCluster(bench);
		let channels: readonly string[] = [];
		await cluster.fill(async (dataset) => {
			channels = await SteadyPosts.fill(dataset);
		});
		const server = await cluster.start();
		const posts = await SteadyPosts.connect(bench, server, channels);
		const figures = [];
		for (const perSecond of POSTS_PER_SECOND) {
			const rounds = await steadyRounds(bench, posts, perSecond, seconds);
			figures.push(...steadyFigures(rounds, 60, `${perSecond} a second: `));
		}
		return {
			configuration: {
				...steadyConfiguration(POSTS_PER_SECOND.join(' and '), seconds),
				server:
					'one `tidemark gateway` and one `tidemark worker`, 8 partitions; Redis, PostgreSQL with fsync, Kafka with one broker, all on this machine',
				CPU: 'of gateway and worker together; Kafka, Redis, PostgreSQL, clients and load come on top and share the machine',
			},
			figures,
			notes: [],
		};
	},
};
