import { Dataset, tokenOf, usersFrom } from '../support/dataset.ts';
import type { Figure } from '../support/figures.ts';
import { ticketFor } from '../support/load.ts';
import { comparePosts, POSTERS, postConfiguration } from '../support/post-cost.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';

/** A post must cost the same whatever the number of members. */

export const postCostBySize: Scenario = {
	name: 'post-cost-by-size',
	about: 'Cost of a post to a large conversation against a small one, few of the members online',
	run: async (bench) => {
		const pairs = bench.pick<[number, number][]>(
			[[5_000, 10]],
			[[100_000, 10]],
			[
				[100_000, 10],
				[500_000, 10],
			],
		);
		const figures: Figure[] = [];
		for (const [large, small] of pairs) figures.push(...(await compareSizes(bench, large, small)));
		return {
			configuration: { ...postConfiguration(bench), online: `${ONLINE} members of each, one socket each` },
			figures,
			notes: [
				'The members were written into the data directory before the server was started, with the same facts and ledger as joining; each has an account with a token.',
			],
		};
	},
};

const ONLINE = 2;

async function compareSizes(bench: Bench, large: number, small: number): Promise<Figure[]> {
	const dataDir = bench.directory(`${large}`);
	const dataset = await Dataset.open(dataDir);
	bench.progress(`making ${large} members`);
	const crowd = usersFrom(0, large);
	const few = usersFrom(large, small);
	await dataset.users([...crowd, ...few]);
	const [big, little] = [dataset.channel(crowd), dataset.channel(few)];
	await Promise.all([big.done, little.done]);
	await dataset.close();
	const server = await startServer(bench, dataDir);
	for (const user of [...crowd.slice(-ONLINE), ...few.slice(-ONLINE)])
		await goOnline(bench, server.url, user);
	const figures = await comparePosts(
		bench,
		server,
		{ what: `${large} members`, channel: big.conversation.id, posters: crowd.slice(0, POSTERS) },
		{ what: `${small} members`, channel: little.conversation.id, posters: few.slice(0, POSTERS) },
		1.2,
	);
	await server.stop();
	return figures;
}

/** A socket that receives everything and sends nothing. */
async function goOnline(bench: Bench, url: string, user: string): Promise<void> {
	const ticket = await ticketFor(url, tokenOf(user));
	const socket = new WebSocket(`${url.replace('http', 'ws')}/rtm?ticket=${ticket}`);
	bench.atEnd(() => socket.close());
	await new Promise((resolve, reject) => {
		socket.onmessage = resolve;
		socket.onerror = reject;
	});
	socket.onmessage = null;
}
