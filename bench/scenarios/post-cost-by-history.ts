import { Dataset, usersFrom } from '../support/dataset.ts';
import { comparePosts, POSTERS, postConfiguration } from '../support/post-cost.ts';
import type { Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';
import { checkStored } from '../support/stored.ts';

/** A post must cost the same, however long the history is. */

export const postCostByHistory: Scenario = {
	name: 'post-cost-by-history',
	about: 'Cost of a post to a channel of many messages against one of few',
	run: async (bench) => {
		const long = bench.pick(20_000, 1_000_000, 1_000_000);
		const short = 1_000;
		const dataDir = bench.directory('data');
		const dataset = await Dataset.open(dataDir);
		const users = usersFrom(0, POSTERS);
		await dataset.users(users);
		const [old, young] = [dataset.channel(users), dataset.channel(users)];
		await Promise.all([old.done, young.done]);
		bench.progress(`making ${long} messages`);
		await dataset.messages(old.conversation, users[0] ?? '', long, users);
		await dataset.messages(young.conversation, users[0] ?? '', short, users);
		await dataset.close();
		checkStored(dataDir, long + short);
		const server = await startServer(bench, dataDir);
		const figures = await comparePosts(
			bench,
			server,
			{ what: `${long} messages before`, channel: old.conversation.id, posters: users },
			{ what: `${short} messages before`, channel: young.conversation.id, posters: users },
			1.2,
		);
		await server.stop();
		return {
			configuration: postConfiguration(bench),
			figures,
			notes: [
				`Earlier messages were written into the data directory with the same facts and ledger as posting; the ${POSTERS} members had read them. The posts of the rounds go to both channels equally.`,
			],
		};
	},
};
