import { benchCluster, CLUSTER_IN_WORDS } from '../support/cluster.ts';
import type { Scenario } from '../support/scenario.ts';
import { MEMBERS, measureSteadyPosts } from '../support/steady-posts.ts';

/** From a post to its delivery through Kafka and Redis: at the target rate, and at a lower rate. */

const POSTS_PER_SECOND = [200, 1_000] as const;

export const clusterDelivery: Scenario = {
	name: 'cluster-delivery',
	about: `In a cluster: from post to delivery, ${POSTS_PER_SECOND.join(' and ')} posts per second into conversations of ${MEMBERS} online members`,
	run: async (bench) => {
		const { configuration, figures } = await measureSteadyPosts(bench, POSTS_PER_SECOND, 60, async (fill) => {
			const cluster = await benchCluster(bench);
			await cluster.fill(fill);
			return cluster.start();
		});
		return {
			configuration: {
				...configuration,
				server: CLUSTER_IN_WORDS,
				CPU: 'of gateway and worker together; Kafka, Redis, PostgreSQL, clients and load generator are not included, and share the machine',
			},
			figures,
			notes: [],
		};
	},
};
