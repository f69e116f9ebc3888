import { channelId, Dataset, inParts, MESSAGE_TEXT, tokenOf, usersFrom } from '../support/dataset.ts';
import { type Figure, figure, quantile, ratio } from '../support/figures.ts';
import { Listeners, timedText } from '../support/listeners.ts';
import { ticketFor } from '../support/load.ts';
import { bareBun, CFLAGS, cServer, needCompiler } from '../support/peers.ts';
import { cpuSeconds, openFilesLimit } from '../support/process-cpu.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';

/** One message to everybody who is online, against a C server that does nothing but write. */

const PAUSE_MS = 100;
const SPARE_FILES = 200;

export const fanOut: Scenario = {
	name: 'fan-out',
	about:
		'One message to thousands of sockets of one conversation, against a write loop in C and Bun’s own publish',
	run: async (bench) => {
		needCompiler();
		const wanted = bench.pick([500], [2_000, 8_000], [2_000, 8_000]);
		const sizes = wanted.filter((size) => size + SPARE_FILES < openFilesLimit());
		const figures: Figure[] = [];
		for (const size of sizes) figures.push(...(await measure(bench, size)));
		return {
			configuration: {
				clients: `one process in C, one socket for each member; gcc ${CFLAGS.join(' ')}`,
				messages: `${messagesOf(bench)} a round, ${PAUSE_MS} ms after the last one was heard by all; the same bytes from each server`,
				'last socket': 'from before the post is sent until the last of the sockets has the message',
				CPU: 'of the whole server process; Tidemark’s contains taking the post over HTTP, sequencing and storing it',
			},
			figures,
			notes: [
				...(sizes.length < wanted.length
					? [`more sockets than ${openFilesLimit()} open files allow were left out`]
					: []),
				'All servers run through the whole comparison, each with its own clients connected, and take turns.',
			],
		};
	},
};

const messagesOf = (bench: Bench): number => bench.pick(10, 40, 40);

/** A server to post to, by its name. */
interface Side {
	readonly name: string;
	readonly pid: number;
	readonly listeners: Listeners;
	post(text: string): Promise<unknown>;
}

async function measure(bench: Bench, size: number): Promise<Figure[]> {
	const tidemark = await tidemarkSide(bench, size);
	const frame = await frameOf(bench, tidemark);
	const c = await peerSide(bench, 'C', await cServer(bench), size, frame);
	const bun = await peerSide(bench, 'bare Bun', await bareBun(bench), size, frame);
	const sides = [tidemark.side, c, bun];
	const rounds = sides.map(() => ({ perCpu: [] as number[], p50: [] as number[], p99: [] as number[] }));
	let number = 1;
	for (let run = 0; run < bench.runs; run += 1)
		for (const [index, side] of sides.entries()) {
			const last: number[] = [];
			const before = cpuSeconds(side.pid);
			for (let message = 0; message < messagesOf(bench); message += 1) {
				number += 1;
				// Not awaited first: the post's own answer may come after the last delivery.
				const posted = side.post(`${timedText(number)} ${MESSAGE_TEXT}`);
				last.push((await side.listeners.heard(number)).lastMs);
				await posted;
				await Bun.sleep(PAUSE_MS);
			}
			const cpu = cpuSeconds(side.pid) - before;
			rounds[index]?.perCpu.push((messagesOf(bench) * size) / cpu);
			rounds[index]?.p50.push(quantile(last, 0.5));
			rounds[index]?.p99.push(quantile(last, 0.99));
			bench.progress(
				`${size} sockets, ${side.name}: ${Math.round((messagesOf(bench) * size) / cpu)} deliveries a CPU second`,
			);
		}
	const [ours, theirs, bare] = rounds;
	const at = `${size} sockets: `;
	return [
		ratio(`${at}deliveries a CPU second, against C`, ours?.perCpu ?? [], theirs?.perCpu ?? [], {
			atLeast: 0.85,
		}),
		ratio(`${at}deliveries a CPU second, against bare Bun`, ours?.perCpu ?? [], bare?.perCpu ?? []),
		ratio(`${at}last socket’s p99, against C`, ours?.p99 ?? [], theirs?.p99 ?? [], { atMost: 1.3 }),
		...sides.flatMap(({ name }, index) => [
			figure(`${at}${name}, deliveries a CPU second`, '/s', rounds[index]?.perCpu ?? []),
			figure(`${at}${name}, last socket’s p50`, 'ms', rounds[index]?.p50 ?? []),
			figure(`${at}${name}, last socket’s p99`, 'ms', rounds[index]?.p99 ?? []),
		]),
	];
}

interface TidemarkSide {
	readonly side: Side;
	readonly url: string;
	readonly poster: string;
}

async function tidemarkSide(bench: Bench, size: number): Promise<TidemarkSide> {
	const dataDir = bench.directory(`${size}`);
	const members = usersFrom(0, size);
	const poster = usersFrom(size, 1)[0] ?? '';
	const dataset = await Dataset.open(dataDir);
	await dataset.users([...members, poster]);
	await dataset.channel([...members, poster]).done;
	await dataset.close();
	const server = await startServer(bench, dataDir);
	bench.progress(`connecting ${size} sockets`);
	const paths: string[] = [];
	await inParts(size, 64, async (from, to) => {
		const tickets = members.slice(from, to).map((user) => ticketFor(server.url, tokenOf(user)));
		for (const ticket of await Promise.all(tickets)) paths.push(`/rtm?ticket=${ticket}`);
	});
	const listeners = await Listeners.connect(bench, server.port, paths);
	const post = (text: string) =>
		fetch(`${server.url}/api/chat.postMessage`, {
			method: 'POST',
			headers: { authorization: `Bearer ${tokenOf(poster)}`, 'content-type': 'application/json' },
			body: JSON.stringify({ channel: channelId(0), text }),
		}).then((response) => response.text());
	return { side: { name: 'Tidemark', pid: server.pid, listeners, post }, url: server.url, poster };
}

/** The event as Tidemark sends it, so that the others send as many bytes. */
async function frameOf(_bench: Bench, { url, poster, side }: TidemarkSide): Promise<string> {
	const ticket = await ticketFor(url, tokenOf(poster));
	const socket = new WebSocket(`${url.replace('http', 'ws')}/rtm?ticket=${ticket}`);
	const event = new Promise<string>((resolve) => {
		socket.onmessage = ({ data }) => {
			if (String(data).includes(MESSAGE_TEXT)) resolve(String(data));
			else if (String(data).includes('"hello"')) side.post(`${timedText(1)} ${MESSAGE_TEXT}`);
		};
	});
	const frame = await event;
	await side.listeners.heard(1);
	socket.close();
	return frame;
}

async function peerSide(
	bench: Bench,
	name: string,
	{ pid, port }: { readonly pid: number; readonly port: number },
	size: number,
	frame: string,
): Promise<Side> {
	const listeners = await Listeners.connect(
		bench,
		port,
		Array.from({ length: size }, () => '/'),
	);
	const post = (text: string) =>
		fetch(`http://127.0.0.1:${port}/publish`, {
			method: 'POST',
			body: frame.replace(/#\d+@\d+# /, `${text.slice(0, text.indexOf(' ') + 1)}`),
		}).then((response) => response.text());
	return { name, pid, listeners, post };
}
