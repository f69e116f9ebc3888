import { Dataset } from '../support/dataset.ts';
import { needCompiler } from '../support/peers.ts';
import type { Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';
import {
	MEMBERS,
	SteadyPosts,
	steadyConfiguration,
	steadyFigures,
	steadyRounds,
} from '../support/steady-posts.ts';

/** From a post to its delivery, at a steady rate that is far from the most the server can do. */

const POSTS_PER_SECOND = 1_000;

export const delivery: Scenario = {
	name: 'delivery',
	about: `From post to delivery: ${POSTS_PER_SECOND} posts a second into conversations of ${MEMBERS} online members`,
	run: async (bench) => {
		needCompiler();
		const seconds = bench.pick(1, 10, 30);
		const dataDir = bench.directory('data');
		const dataset = await Dataset.open(dataDir);
		const channels = await SteadyPosts.fill(dataset);
		await dataset.close();
		const posts = await SteadyPosts.connect(bench, await startServer(bench, dataDir), channels);
		const rounds = await steadyRounds(bench, posts, POSTS_PER_SECOND, seconds);
		return {
			configuration: steadyConfiguration(String(POSTS_PER_SECOND), seconds),
			figures: steadyFigures(rounds, 20),
			notes: [
				'Every post waits for the disk before it is delivered. Clients and load share the machine with the server.',
			],
		};
	},
};
