import {
	NumberedPosts,
	peerSide,
	type Side,
	socketsThatFit,
	tidemarkSide,
} from '../support/fan-out-sides.ts';
import { type Figure, figure, ratio } from '../support/figures.ts';
import { type NodePeers, nodePeers } from '../support/node-peers.ts';
import { CFLAGS, needCompiler } from '../support/peers.ts';
import { cpuSeconds } from '../support/process-cpu.ts';
import type { Bench, Scenario } from '../support/scenario.ts';

/** One message to every online user, compared with common bases for chat servers: `ws` and Socket.IO. */

const PAUSE_MS = 50;
/** The minimum for a paced round. */
const MESSAGES = 40;
const DELIVERIES = 60_000;
/** Posts that are sent at once. */
const BURST = 50;
const BURSTS = 2;
const SOCKET_IO = { path: '/socket.io/?EIO=4&transport=websocket', protocol: 'socket.io' } as const;

export const fanOutPeers: Scenario = {
	name: 'fan-out-peers',
	about:
		'One message to hundreds and thousands of sockets of one conversation, against ws and Socket.IO on Node',
	run: async (bench) => {
		needCompiler();
		const peers = await nodePeers(bench);
		const { sizes, notes } = socketsThatFit(bench.pick([300], [300, 2_000, 8_000], [300, 2_000, 8_000]));
		const figures: Figure[] = [];
		for (const size of sizes) figures.push(...(await measure(bench, peers, size)));
		const { node, ws, 'socket.io': socketIo, 'engine.io': engineIo } = peers.versions;
		return {
			configuration: {
				peers: `ws ${ws}; socket.io ${socketIo} with engine.io ${engineIo}, WebSocket only; both on Node ${node}, one process each, no compression`,
				clients: `one process in C for each server, one socket for each member, each speaking its server’s protocol; gcc ${CFLAGS.join(' ')}`,
				payload: 'the same event as JSON from each server; Socket.IO’s packet around it is 14 bytes more',
				paced: `${sizes.map((size) => `${messagesOf(bench, size)} messages per round to ${size}`).join(', ')}, each ${PAUSE_MS} ms after all sockets received the previous one`,
				burst: `${BURSTS} times ${BURST} messages per round, posted at once; a round ends when all sockets received all of them`,
				CPU: 'of the whole server process, all threads; clients and load generator are not included',
			},
			figures,
			notes: [
				...notes,
				'The servers do different work for a message. ws and Socket.IO receive it over HTTP and write it to the sockets of one set or room. Tidemark also checks token and membership, adds the message to the timeline, and writes to no socket before the message is on disk.',
				'In small conversations this work costs more than the sockets, so Tidemark’s advantage is smaller when messages arrive one by one.',
				'Tidemark sends frames that are due at the same time in one write, which shows in the burst; ws and Socket.IO write each separately.',
				'Centrifugo is missing among the peers: it could not be installed on the machines at hand.',
				'All servers run through the whole comparison, each with its own clients connected, and take turns after a round to warm up.',
			],
		};
	},
};

/** A round with few deliveries would be too short to measure. */
const messagesOf = (bench: Bench, size: number): number => {
	const enough = Math.max(MESSAGES, Math.ceil(DELIVERIES / size));
	return bench.pick(10, enough, enough);
};

interface Rounds {
	readonly paced: number[];
	readonly burst: number[];
	readonly burstPerSecond: number[];
}

async function measure(bench: Bench, peers: NodePeers, size: number): Promise<Figure[]> {
	const tidemark = await tidemarkSide(bench, size);
	const { frame } = tidemark;
	const ws = await peerSide(bench, 'ws', await peers.start(bench, 'ws.mjs'), size, frame);
	const io = await peers.start(bench, 'socket-io.mjs');
	const socketIo = await peerSide(bench, 'Socket.IO', io, size, frame, SOCKET_IO);
	const sides = [tidemark, ws, socketIo].map((side) => ({ side, rounds: noRounds() }));
	const posts = new NumberedPosts();
	for (const { side } of sides) await round(bench, posts, side, size, noRounds());
	for (let run = 0; run < bench.runs; run += 1)
		for (const { side, rounds } of sides) await round(bench, posts, side, size, rounds);
	const at = `${size} sockets, `;
	const [ours, ...others] = sides.map(({ side, rounds }) => ({ name: side.name, ...rounds }));
	return [
		...others.flatMap(({ name, paced, burst }) => [
			ratio(`${at}paced: deliveries per CPU second, against ${name}`, ours?.paced ?? [], paced, {
				atLeast: 1,
			}),
			ratio(`${at}burst: deliveries per CPU second, against ${name}`, ours?.burst ?? [], burst, {
				atLeast: 1,
			}),
		]),
		...sides.flatMap(({ side: { name }, rounds }) => [
			figure(`${at}paced: ${name}, deliveries per CPU second`, '/s', rounds.paced),
			figure(`${at}burst: ${name}, deliveries per CPU second`, '/s', rounds.burst),
			figure(`${at}burst: ${name}, deliveries per second`, '/s', rounds.burstPerSecond),
		]),
	];
}

const noRounds = (): Rounds => ({ paced: [], burst: [], burstPerSecond: [] });

async function round(
	bench: Bench,
	posts: NumberedPosts,
	side: Side,
	size: number,
	rounds: Rounds,
): Promise<void> {
	const messages = messagesOf(bench, size);
	const paced = await measureCost(side, async () => {
		for (let message = 0; message < messages; message += 1) {
			await posts.post(side);
			await Bun.sleep(PAUSE_MS);
		}
	});
	const burst = await measureCost(side, async () => {
		for (let time = 0; time < BURSTS; time += 1)
			await Promise.all(Array.from({ length: BURST }, () => posts.post(side)));
	});
	rounds.paced.push((messages * size) / paced.cpu);
	rounds.burst.push((BURST * BURSTS * size) / burst.cpu);
	rounds.burstPerSecond.push((BURST * BURSTS * size) / burst.wall);
	const of = (per: readonly number[]): number => Math.round(per.at(-1) ?? 0);
	bench.progress(
		`${size} sockets, ${side.name}: ${of(rounds.paced)} deliveries per CPU second paced, ${of(rounds.burst)} in a burst`,
	);
}

/** Seconds of the server's CPU and of wall time. */
async function measureCost(side: Side, work: () => Promise<void>): Promise<{ cpu: number; wall: number }> {
	const before = cpuSeconds(side.pid);
	const began = performance.now();
	await work();
	return { cpu: cpuSeconds(side.pid) - before, wall: (performance.now() - began) / 1000 };
}
