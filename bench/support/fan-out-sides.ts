import { channelId, Dataset, inParts, MESSAGE_TEXT, tokenOf, usersFrom } from './dataset.ts';
import { Listeners, type Protocol, type Received, timedText } from './listeners.ts';
import { ticketFor } from './load.ts';
import type { Peer } from './peers.ts';
import { openFilesLimit } from './process-cpu.ts';
import type { Bench } from './scenario.ts';
import { startServer } from './server.ts';

/** Servers that send a posted message to every socket of one conversation: Tidemark, and others for comparison. */

export interface Side {
	readonly name: string;
	readonly pid: number;
	readonly listeners: Listeners;
	/** Resolves with the server's answer; the text must begin with `timedText`. */
	post(text: string): Promise<unknown>;
}

export interface TidemarkSide extends Side {
	/** An event as Tidemark sends it, so that the others send as many bytes. */
	readonly frame: string;
}

/** The number of the sample message in `frameOf`; measured messages have higher numbers. */
const FIRST_NUMBER = 1;

const SPARE_FILES = 200;

/** The socket counts that this machine allows a process to open, and a remark about the others. */
export function socketsThatFit(wanted: readonly number[]): { sizes: number[]; notes: string[] } {
	const limit = openFilesLimit();
	const sizes = wanted.filter((size) => size + SPARE_FILES < limit);
	const notes = [`sizes that need more than ${limit} open files per process were left out`];
	return { sizes, notes: sizes.length < wanted.length ? notes : [] };
}

/** Posts numbered messages; each is done when it was answered and everybody has received it. */
export class NumberedPosts {
	private number = FIRST_NUMBER;

	async post({ post, listeners }: Side): Promise<Received> {
		this.number += 1;
		// Both are awaited together: the answer to the post may arrive after the last delivery.
		const answered = post(`${timedText(this.number)} ${MESSAGE_TEXT}`);
		const [receivedAt] = await Promise.all([listeners.received(this.number), answered]);
		return receivedAt;
	}
}

export async function tidemarkSide(bench: Bench, size: number): Promise<TidemarkSide> {
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
	const side = { name: 'Tidemark', pid: server.pid, listeners, post };
	return { ...side, frame: await frameOf(side, server.url, poster) };
}

async function frameOf({ post, listeners }: Side, url: string, poster: string): Promise<string> {
	const ticket = await ticketFor(url, tokenOf(poster));
	const socket = new WebSocket(`${url.replace('http', 'ws')}/rtm?ticket=${ticket}`);
	const event = new Promise<string>((resolve) => {
		socket.onmessage = ({ data }) => {
			if (String(data).includes(MESSAGE_TEXT)) resolve(String(data));
			else if (String(data).includes('"hello"')) post(`${timedText(FIRST_NUMBER)} ${MESSAGE_TEXT}`);
		};
	});
	const frame = await event;
	await listeners.received(FIRST_NUMBER);
	socket.close();
	return frame;
}

/** A server to which the whole event is posted. */
export async function peerSide(
	bench: Bench,
	name: string,
	{ pid, port }: Peer,
	size: number,
	frame: string,
	{ path, protocol }: { readonly path: string; readonly protocol: Protocol } = {
		path: '/',
		protocol: 'plain',
	},
): Promise<Side> {
	const paths = Array.from({ length: size }, () => path);
	const listeners = await Listeners.connect(bench, port, paths, protocol);
	const post = (text: string) =>
		fetch(`http://127.0.0.1:${port}/publish`, {
			method: 'POST',
			body: frame.replace(/#\d+@\d+# /, `${text.slice(0, text.indexOf(' ') + 1)}`),
		}).then((response) => response.text());
	return { name, pid, listeners, post };
}
