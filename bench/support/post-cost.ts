import { MESSAGE_TEXT, tokenOf } from './dataset.ts';
import { type Figure, figure, ratio } from './figures.ts';
import { firstIdOf, Load, type Measured } from './load.ts';
import type { Bench } from './scenario.ts';
import { type BenchServer, FLAGS } from './server.ts';

/** The cost of a post in each of two conversations of one server, in alternating rounds. */

export interface PostedConversation {
	readonly what: string;
	readonly channel: string;
	/** The users who post: one connection each. */
	readonly posters: readonly string[];
}

export const POSTERS = 8;

export async function comparePosts(
	bench: Bench,
	server: Pick<BenchServer, 'port' | 'pids'>,
	tested: PostedConversation,
	against: PostedConversation,
	target: number,
): Promise<Figure[]> {
	const loads: Load[] = [];
	for (const one of [tested, against]) loads.push(await startPosts(bench, server, one));
	const measured: Measured[][] = [[], []];
	// Twice as many rounds as elsewhere: the two costs are nearly equal, so the noise must be small.
	for (let run = 0; run < bench.runs * 2; run += 1)
		for (const which of run % 2 === 0 ? [0, 1] : [1, 0]) {
			const round = await (loads[which] as Load).round(server);
			if (round.rejected > 0) throw new Error(`${round.rejected} posts were rejected`);
			measured[which]?.push(round);
			bench.progress(`${[tested, against][which]?.what}: ${cpuMicros(round).toFixed(1)} µs of CPU per post`);
		}
	for (const load of loads) await load.stop();
	const [of = [], to = []] = measured;
	return [
		ratio(`CPU of a post, ${tested.what} against ${against.what}`, of.map(cpuMicros), to.map(cpuMicros), {
			atMost: target,
		}),
		ratio(`time of a post, ${tested.what} against ${against.what}`, of.map(wallMicros), to.map(wallMicros), {
			atMost: target,
		}),
		figure(`CPU of a post, ${tested.what}`, 'µs', of.map(cpuMicros)),
		figure(`CPU of a post, ${against.what}`, 'µs', to.map(cpuMicros)),
		figure(
			`posts per second, ${tested.what}`,
			'/s',
			of.map((one) => one.acknowledged / one.seconds),
		),
		figure(
			`posts per second, ${against.what}`,
			'/s',
			to.map((one) => one.acknowledged / one.seconds),
		),
	];
}

export const postsARound = (bench: Bench): number => bench.pick(2_000, 10_000, 10_000);

/** Posts over one connection per poster, one request at a time each; already warm. */
export function startPosts(
	bench: Bench,
	{ port }: Pick<BenchServer, 'port'>,
	{ channel, posters }: Omit<PostedConversation, 'what'>,
): Promise<Load> {
	const count = postsARound(bench);
	return Load.start(bench, {
		kind: 'http',
		port,
		connections: posters.map((user, index) => ({
			token: tokenOf(user),
			channel,
			firstId: firstIdOf(index),
		})),
		inFlight: 1,
		warmUp: count,
		count,
		text: MESSAGE_TEXT,
		clientMsgIds: false,
	});
}

const cpuMicros = ({ cpuSeconds, acknowledged }: Measured): number => (cpuSeconds / acknowledged) * 1e6;
const wallMicros = ({ seconds, acknowledged }: Measured): number => (seconds / acknowledged) * 1e6;

export const postConfiguration = (bench: Bench): Record<string, string | number> => ({
	server: `tidemark serve ${FLAGS.join(' ')}`,
	posts: `chat.postMessage over ${POSTERS} keep-alive connections of ${POSTERS} members, one request at a time each; ${postsARound(bench)} per round after as many to warm up; text of ${MESSAGE_TEXT.length} characters`,
	rounds: `${bench.runs * 2} of each kind, taking turns on one server`,
	CPU: 'of the whole server process, all threads, from the scheduler’s nanoseconds',
});
