import { Dataset, tokenOf, usersFrom } from '../support/dataset.ts';
import { figure, quantile } from '../support/figures.ts';
import { Listeners, timedText } from '../support/listeners.ts';
import { ticketFor } from '../support/load.ts';
import { needCompiler } from '../support/peers.ts';
import { cpuSeconds } from '../support/process-cpu.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { type BenchServer, startServer } from '../support/server.ts';

/** From a post to its delivery, at a steady rate that is far from the most the server can do. */

const MEMBERS = 50;
const CONVERSATIONS = 20;
const POSTS_PER_SECOND = 1_000;

interface Round {
	/** Of every post, ms until the last of the members had it. */
	readonly lastMs: readonly number[];
	readonly cpuShare: number;
}

export const delivery: Scenario = {
	name: 'delivery',
	about: `From post to delivery: ${POSTS_PER_SECOND} posts a second into conversations of ${MEMBERS} online members`,
	run: async (bench) => {
		needCompiler();
		const seconds = bench.pick(1, 10, 30);
		const stage = await setStage(bench);
		await play(stage, 1);
		const rounds: Round[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			rounds.push(await play(stage, seconds));
			bench.progress(`p99 ${quantile(rounds[run]?.lastMs ?? [], 0.99).toFixed(1)} ms`);
		}
		const of = (share: number): number[] => rounds.map(({ lastMs }) => quantile(lastMs, share));
		return {
			configuration: {
				conversations: `${CONVERSATIONS} of ${MEMBERS} members, each with one socket, and one more who posts over a socket of its own`,
				posts: `${POSTS_PER_SECOND} a second for ${seconds} s, taking turns between conversations, whether the one before was heard or not`,
				measured:
					'from before a post is sent until the last member’s socket has it, read by a process in C for each conversation',
			},
			figures: [
				figure('post to last delivery, p99', 'ms', of(0.99), { atMost: 20 }),
				figure('post to last delivery, p95', 'ms', of(0.95)),
				figure('post to last delivery, median', 'ms', of(0.5)),
				figure(
					'CPU of the server',
					'cores',
					rounds.map(({ cpuShare }) => cpuShare),
				),
			],
			notes: [
				'Every post waits for the disk before it is delivered. Clients and load share the machine with the server.',
			],
		};
	},
};

interface Conversation {
	readonly channel: string;
	readonly poster: WebSocket;
	readonly listeners: Listeners;
}

interface Stage {
	readonly server: BenchServer;
	readonly conversations: readonly Conversation[];
	posted: number;
}

async function setStage(bench: Bench): Promise<Stage> {
	const dataDir = bench.directory('data');
	const dataset = await Dataset.open(dataDir);
	const crowds = Array.from({ length: CONVERSATIONS }, (_, index) =>
		usersFrom(index * (MEMBERS + 1), MEMBERS + 1),
	);
	await dataset.users(crowds.flat());
	const channels = crowds.map((crowd) => dataset.channel(crowd));
	await Promise.all(channels.map(({ done }) => done));
	await dataset.close();
	const server = await startServer(bench, dataDir);
	const conversations = await Promise.all(
		crowds.map(async ([poster = '', ...members], index) => ({
			channel: channels[index]?.conversation.id ?? '',
			poster: await open(bench, server, poster),
			listeners: await listen(bench, server, members),
		})),
	);
	return { server, conversations, posted: 0 };
}

async function listen(bench: Bench, server: BenchServer, users: readonly string[]): Promise<Listeners> {
	const tickets = await Promise.all(users.map((user) => ticketFor(server.url, tokenOf(user))));
	return Listeners.connect(
		bench,
		server.port,
		tickets.map((ticket) => `/rtm?ticket=${ticket}`),
	);
}

async function open(bench: Bench, server: BenchServer, user: string): Promise<WebSocket> {
	const ticket = await ticketFor(server.url, tokenOf(user));
	const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rtm?ticket=${ticket}`);
	bench.atEnd(() => socket.close());
	await new Promise((resolve, reject) => {
		socket.onmessage = resolve;
		socket.onerror = reject;
	});
	socket.onmessage = null;
	return socket;
}

/** Sends by the clock: what is late is sent at once, and its lateness is not hidden by sending less. */
async function play(stage: Stage, seconds: number): Promise<Round> {
	const { server, conversations } = stage;
	const count = POSTS_PER_SECOND * seconds;
	const first = stage.posted;
	const heard: Promise<number>[] = [];
	const cpuBefore = cpuSeconds(server.pid);
	const began = performance.now();
	for (let sent = 0; sent < count; await Bun.sleep(1)) {
		const due = Math.min(count, Math.floor(((performance.now() - began) / 1000) * POSTS_PER_SECOND));
		for (; sent < due; sent += 1) heard.push(post(stage, first + sent));
	}
	const lastMs = await Promise.all(heard);
	stage.posted += count;
	const wall = (performance.now() - began) / 1000;
	for (const { poster } of conversations)
		if (poster.readyState !== WebSocket.OPEN) throw new Error('a socket that posts was closed');
	return { lastMs, cpuShare: (cpuSeconds(server.pid) - cpuBefore) / wall };
}

function post({ conversations }: Stage, number: number): Promise<number> {
	const { channel, poster, listeners } = conversations[number % conversations.length] as Conversation;
	poster.send(JSON.stringify({ id: number + 1, type: 'message', channel, text: timedText(number) }));
	return listeners.heard(number).then(({ lastMs }) => lastMs);
}
