import { Schedule, sendOnSchedule } from '../../src/load/schedule.ts';
import { type Dataset, tokenOf, usersFrom } from './dataset.ts';
import { type Figure, figure, quantile, type ScenarioResult } from './figures.ts';
import { Listeners, timedText } from './listeners.ts';
import { cpuSecondsOf, ticketFor } from './load.ts';
import { needCompiler } from './peers.ts';
import type { Bench } from './scenario.ts';

/** Posts at a steady rate to conversations whose members are all online, timed until the last member has the message. */

export const MEMBERS = 50;
const CONVERSATIONS = 20;
const CROWDS = Array.from({ length: CONVERSATIONS }, (_, index) =>
	usersFrom(index * (MEMBERS + 1), MEMBERS + 1),
);

/** The measured server: one process or several. */
interface Server {
	readonly url: string;
	readonly port: number;
	readonly pids: readonly number[];
}

interface Conversation {
	readonly channel: string;
	readonly poster: WebSocket;
	readonly listeners: Listeners;
}

interface Round {
	/** By post: milliseconds until the last member had it. */
	readonly lastMs: readonly number[];
	readonly cpuShare: number;
}

class SteadyPosts {
	private posted = 0;

	private constructor(
		private readonly server: Server,
		private readonly conversations: readonly Conversation[],
	) {}

	/** Call it before the server starts. Returns the channels. */
	static async fill(dataset: Dataset): Promise<readonly string[]> {
		await dataset.users(CROWDS.flat());
		const channels = CROWDS.map((crowd) => dataset.channel(crowd));
		await Promise.all(channels.map(({ done }) => done));
		return channels.map(({ conversation }) => conversation.id);
	}

	static async connect(bench: Bench, server: Server, channels: readonly string[]): Promise<SteadyPosts> {
		const conversations: Conversation[] = [];
		// One after the other: a ticket is valid only for a short time, and a thousand at once may take longer.
		for (const [index, [poster = '', ...members]] of CROWDS.entries())
			conversations.push({
				channel: channels[index] ?? '',
				poster: await open(bench, server, poster),
				listeners: await listen(bench, server, members),
			});
		return new SteadyPosts(server, conversations);
	}

	/** Sends by the clock: a late post is sent at once, so that a slow server does not lower the rate. */
	async play(perSecond: number, seconds: number): Promise<Round> {
		const { server, conversations } = this;
		const count = perSecond * seconds;
		const first = this.posted;
		const arrivals: Promise<number>[] = [];
		const cpuBefore = cpuSecondsOf(server.pids);
		const began = performance.now();
		const dueBy = (ms: number): number => Math.min(count, Math.floor((ms / 1000) * perSecond));
		const clock = new Schedule(dueBy, (number) => arrivals.push(this.post(first + number)));
		await sendOnSchedule([clock], { nowMs: () => performance.now() - began, endMs: seconds * 1000 });
		const lastMs = await Promise.all(arrivals);
		this.posted += count;
		const wall = (performance.now() - began) / 1000;
		for (const { poster } of conversations)
			if (poster.readyState !== WebSocket.OPEN) throw new Error('a socket that posts was closed');
		return { lastMs, cpuShare: (cpuSecondsOf(server.pids) - cpuBefore) / wall };
	}

	private post(number: number): Promise<number> {
		const { channel, poster, listeners } = this.conversations[number % CONVERSATIONS] as Conversation;
		poster.send(JSON.stringify({ id: number + 1, type: 'message', channel, text: timedText(number) }));
		return listeners.received(number).then(({ lastMs }) => lastMs);
	}
}

async function listen(bench: Bench, { url, port }: Server, users: readonly string[]): Promise<Listeners> {
	const tickets = await Promise.all(users.map((user) => ticketFor(url, tokenOf(user))));
	const paths = tickets.map((ticket) => `/rtm?ticket=${ticket}`);
	return Listeners.connect(bench, port, paths);
}

async function open(bench: Bench, { url, port }: Server, user: string): Promise<WebSocket> {
	const ticket = await ticketFor(url, tokenOf(user));
	const socket = new WebSocket(`ws://127.0.0.1:${port}/rtm?ticket=${ticket}`);
	bench.atEnd(() => socket.close());
	await new Promise((resolve, reject) => {
		socket.onmessage = resolve;
		socket.onerror = reject;
	});
	socket.onmessage = null;
	return socket;
}

/** Fills a server's data directory, and starts the server. */
type Start = (fill: (dataset: Dataset) => Promise<void>) => Promise<Server>;

/** Measures these rates one after the other. The p99 of a delivery must not exceed the target. */
export async function measureSteadyPosts(
	bench: Bench,
	rates: readonly number[],
	targetMs: number,
	start: Start,
): Promise<Omit<ScenarioResult, 'notes'>> {
	needCompiler();
	const seconds = bench.pick(1, 10, 30);
	let channels: readonly string[] = [];
	const server = await start(async (dataset) => {
		channels = await SteadyPosts.fill(dataset);
	});
	const posts = await SteadyPosts.connect(bench, server, channels);
	const figures: Figure[] = [];
	for (const perSecond of rates) {
		const rounds = await roundsAt(bench, posts, perSecond, seconds);
		figures.push(...figuresOf(rounds, targetMs, rates.length > 1 ? `${perSecond} per second: ` : ''));
	}
	return {
		configuration: {
			conversations: `${CONVERSATIONS} of ${MEMBERS} members, each with one socket, and one more user, who posts over another socket`,
			posts: `${rates.join(' and ')} per second for ${seconds} s, in turn to each conversation, without waiting for the previous delivery; before that ${seconds * WARM_UP_ROUNDS} s at the same rate to warm up`,
			measured:
				'from just before a post is sent until the last member’s socket has received it; a process in C reads the sockets of each conversation',
		},
		figures,
	};
}

/** The warm-up takes as long as this many rounds: Kafka has just started, and compiles its code during the first 20,000 posts. */
const WARM_UP_ROUNDS = 2;

/** Plays this rate to warm up, then measures each round. */
async function roundsAt(
	bench: Bench,
	posts: SteadyPosts,
	perSecond: number,
	seconds: number,
): Promise<Round[]> {
	await posts.play(perSecond, seconds * WARM_UP_ROUNDS);
	const rounds: Round[] = [];
	for (let run = 0; run < bench.runs; run += 1) {
		const round = await posts.play(perSecond, seconds);
		rounds.push(round);
		bench.progress(`${perSecond} posts per second: p99 ${quantile(round.lastMs, 0.99).toFixed(1)} ms`);
	}
	return rounds;
}

function figuresOf(rounds: readonly Round[], targetMs: number, before: string): Figure[] {
	const of = (share: number): number[] => rounds.map(({ lastMs }) => quantile(lastMs, share));
	return [
		figure(`${before}post to last delivery, p99`, 'ms', of(0.99), { atMost: targetMs }),
		figure(`${before}post to last delivery, p95`, 'ms', of(0.95)),
		figure(`${before}post to last delivery, median`, 'ms', of(0.5)),
		figure(
			`${before}CPU of the server`,
			'cores',
			rounds.map(({ cpuShare }) => cpuShare),
		),
	];
}
