import { type FakeProviders, startProviders } from '../../test/push/fake-providers.ts';
import { Dataset, tokenOf, userId, usersFrom } from '../support/dataset.ts';
import { figure, quantile, ratio } from '../support/figures.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { type BenchServer, startServer } from '../support/server.ts';

/** A mention of all members of a very large channel must not delay posts, or notifications of other messages. */

const POSTS_BEFORE = 300;
const DIRECT_EVERY_MS = 500;
const TIMEOUT_MS = 300_000;

interface Round {
	readonly perSecond: number;
	readonly posts: readonly number[];
	readonly postsBefore: readonly number[];
	/** From a direct message until the phone has it, while the channel is being processed. */
	readonly direct: readonly number[];
}

export const pushLarge: Scenario = {
	name: 'push-large',
	about: 'A <!channel> in a very large channel, pushed to every device, and its effect on other users',
	run: async (bench) => {
		const members = bench.pick(5_000, 500_000, 500_000);
		const devices = bench.pick(2_000, 100_000, 500_000);
		const dataDir = bench.directory('data');
		const providers = await startProviders(bench.directory('providers'));
		bench.atEnd(() => providers.stop());
		const channels = await fill(bench, dataDir, members, devices);
		const server = await startServer(bench, dataDir, providers.flags, providers.environment);
		const rounds: Round[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			const round = await measure(server, providers, channels, devices);
			rounds.push(round);
			bench.progress(
				`${Math.round(round.perSecond)} per second; direct messages within ${Math.round(Math.max(...round.direct))} ms`,
			);
		}
		await server.stop();
		const of = (value: (round: Round) => number) => rounds.map(value);
		return {
			configuration: {
				data: `a channel of ${members} members, of whom ${devices} have a device`,
				load: `one <!channel> in it; meanwhile one client posts to a channel of two without a pause, and every ${DIRECT_EVERY_MS} ms a user gets a direct message`,
				providers: 'a local server that speaks APNs and checks every request, on the same machine',
			},
			figures: [
				figure(
					'notifications',
					'/s',
					of(({ perSecond }) => perSecond),
					{ atLeast: 5_000 },
				),
				figure(
					'a direct message meanwhile: from the post to the phone, longest',
					'ms',
					of(({ direct }) => Math.max(...direct)),
				),
				figure(
					'a post meanwhile: median',
					'ms',
					of(({ posts }) => quantile(posts, 0.5)),
				),
				figure(
					'a post meanwhile: p99',
					'ms',
					of(({ posts }) => quantile(posts, 0.99)),
				),
				ratio(
					'a post meanwhile: p99 against before',
					of(({ posts }) => quantile(posts, 0.99)),
					of(({ postsBefore }) => quantile(postsBefore, 0.99)),
				),
			],
			notes: ['Members and devices were written into the data directory beforehand.'],
		};
	},
};

interface Channels {
	readonly large: string;
	readonly small: string;
}

const AUTHOR = userId(0);
/** A user with a device, who gets the direct messages. */
const FRIEND = userId(1);

async function fill(bench: Bench, dataDir: string, members: number, devices: number): Promise<Channels> {
	const dataset = await Dataset.open(dataDir);
	bench.progress(`making ${members} members, ${devices} devices`);
	const crowd = usersFrom(0, members);
	await dataset.users(crowd);
	const [large, small] = [dataset.channel(crowd), dataset.channel([AUTHOR, userId(members - 1)])];
	await Promise.all([large.done, small.done]);
	await dataset.devices(crowd.slice(1, devices + 1));
	await dataset.close();
	return { large: large.conversation.id, small: small.conversation.id };
}

async function measure(
	{ url }: BenchServer,
	providers: FakeProviders,
	{ large, small }: Channels,
	devices: number,
): Promise<Round> {
	const post = async (channel: string, text: string): Promise<number> => {
		const started = performance.now();
		await call(url, 'chat.postMessage', { channel, text });
		return performance.now() - started;
	};
	const { channel } = await call(url, 'conversations.open', { users: FRIEND });
	const postsBefore: number[] = [];
	for (let index = 0; index < POSTS_BEFORE; index += 1) postsBefore.push(await post(small, 'before'));

	const { sent } = await providers.counts();
	const started = performance.now();
	const state = { over: false, direct: 0 };
	await post(large, '<!channel> hello');
	const posts: number[] = [];
	const posting = (async () => {
		while (!state.over) posts.push(await post(small, 'meanwhile'));
	})();
	const direct: number[] = [];
	const directs = (async () => {
		while (!state.over) {
			const { received } = await providers.phone(FRIEND);
			const at = performance.now();
			await post(channel?.id ?? '', 'psst');
			state.direct += 1;
			// One more than before, or two: the channel's notification may arrive at the same time.
			await until(async () => (await providers.phone(FRIEND)).received > received);
			direct.push(performance.now() - at);
			await Bun.sleep(DIRECT_EVERY_MS);
		}
	})();
	await until(async () => (await providers.counts()).sent - sent - state.direct >= devices);
	const seconds = (performance.now() - started) / 1000;
	state.over = true;
	await Promise.all([posting, directs]);
	return { perSecond: devices / seconds, posts, postsBefore, direct };
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
	const end = performance.now() + TIMEOUT_MS;
	while (!(await isDone())) {
		if (performance.now() > end) throw new Error(`not finished within ${TIMEOUT_MS / 1000} s`);
		await Bun.sleep(10);
	}
}

async function call(
	url: string,
	name: string,
	args: Record<string, string>,
): Promise<{ readonly channel?: { readonly id: string } }> {
	const response = await fetch(`${url}/api/${name}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${tokenOf(AUTHOR)}` },
		body: new URLSearchParams(args),
	});
	const body = (await response.json()) as { ok: boolean; channel?: { id: string } };
	if (!body.ok) throw new Error(`${name}: ${JSON.stringify(body)}`);
	return body;
}
