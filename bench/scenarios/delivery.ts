import { Dataset } from '../support/dataset.ts';
import type { Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';
import { MEMBERS, measureSteadyPosts } from '../support/steady-posts.ts';

/** From a post to its delivery, at a steady rate far below the server's maximum. */

const POSTS_PER_SECOND = 1_000;

export const delivery: Scenario = {
	name: 'delivery',
	about: `From post to delivery: ${POSTS_PER_SECOND} posts per second into conversations of ${MEMBERS} online members`,
	run: async (bench) => ({
		...(await measureSteadyPosts(bench, [POSTS_PER_SECOND], 20, async (fill) => {
			const dataDir = bench.directory('data');
			const dataset = await Dataset.open(dataDir);
			await fill(dataset);
			await dataset.close();
			return startServer(bench, dataDir);
		})),
		notes: [
			'Every post waits for the disk before it is delivered. Clients and load share the machine with the server.',
		],
	}),
};
