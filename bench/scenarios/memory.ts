import { CURSORS, ENTRIES, type StructuresReport } from '../load/structures.ts';
import { Dataset, inParts, tokenOf, usersFrom } from '../support/dataset.ts';
import { figure, median, ratio } from '../support/figures.ts';
import { LineReader } from '../support/lines.ts';
import { Listeners } from '../support/listeners.ts';
import { ticketFor } from '../support/load.ts';
import { BUN, ROOT } from '../support/paths.ts';
import { bareBun, needCompiler } from '../support/peers.ts';
import { openFilesLimit, residentBytes } from '../support/process-cpu.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { end } from '../support/server.ts';

/** The memory of cursors, timelines and idle connections. */

const CONVERSATIONS_EACH = 50;
const CONVERSATIONS = 500;
/** Files that a server opens in addition to sockets. */
const OTHER_FILES = 200;
/** Within this time, an idle server collects its garbage; its memory is measured afterwards. */
const IDLE_MS = 25_000;
const SAMPLES = 21;
const SAMPLE_MS = 500;

export const memory: Scenario = {
	name: 'memory',
	about: 'Bytes for a cursor, a timeline entry and an idle connection whose user is in 50 conversations',
	run: async (bench) => {
		needCompiler();
		const cursors: StructuresReport[] = [];
		const entries: StructuresReport[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			cursors.push(await structures('cursors'));
			entries.push(await structures('entries'));
		}
		const few = bench.pick(100, 1_000, 1_000);
		const many = Math.min(bench.pick(500, 15_000, 15_000), openFilesLimit() - OTHER_FILES);
		const ours: Growth[] = [];
		const bare: number[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			ours.push(await perConnection(bench, few, many, run));
			bare.push(await perBareConnection(bench, few, many));
			bench.progress(
				`${Math.round(ours[run]?.resident ?? 0)} bytes a connection, ${Math.round(ours[run]?.alive ?? 0)} of them alive, ${Math.round(bare[run] ?? 0)} in bare Bun`,
			);
		}
		const resident = ours.map(({ resident }) => resident);
		return {
			configuration: {
				cursors: `${CURSORS.owners} users in ${CURSORS.each} conversations each, live heap after a collection`,
				'timeline entries': `${ENTRIES.owners} timelines of ${ENTRIES.each}, likewise`,
				connections: `growth of the server from ${few} to ${many} idle sockets, one for each user, every user in ${CONVERSATIONS_EACH} of ${CONVERSATIONS} conversations; each time after ${IDLE_MS / 1000} s without traffic`,
			},
			figures: [
				figure(
					'a cursor',
					'bytes',
					cursors.map(({ live }) => live),
					{ atMost: 24 },
				),
				figure(
					'a timeline entry',
					'bytes',
					entries.map(({ live }) => live),
				),
				figure(
					'a cursor, growth of the process',
					'bytes',
					cursors.map(({ grown }) => grown),
				),
				figure(
					'a timeline entry, growth of the process',
					'bytes',
					entries.map(({ grown }) => grown),
				),
				figure('an idle connection', 'bytes', resident, { atMost: 4096 }),
				figure(
					'an idle connection, alive on the heap after a collection',
					'bytes',
					ours.map(({ alive }) => alive),
				),
				figure('an idle connection in bare Bun, one topic', 'bytes', bare),
				ratio('an idle connection, against bare Bun', resident, bare),
			],
			notes: [
				'An idle connection includes all state of its user: session, subscriptions, cursors, cached account and token. The server is not forced to collect garbage before *an idle connection* is measured, so this figure varies with the time of the last collection. The memory of Bun for a socket is not part of the live heap.',
			],
		};
	},
};

async function structures(which: 'cursors' | 'entries'): Promise<StructuresReport> {
	const child = Bun.spawn([BUN, `${ROOT}/bench/load/structures.ts`, which], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	return JSON.parse(await new Response(child.stdout).text()) as StructuresReport;
}

interface Growth {
	/** The growth of the process in bytes. */
	readonly resident: number;
	/** The growth of live bytes on its heap. */
	readonly alive: number;
}

async function perConnection(bench: Bench, few: number, many: number, run: number): Promise<Growth> {
	const dataDir = bench.directory(`data-${run}`);
	const users = usersFrom(0, many);
	const dataset = await Dataset.open(dataDir);
	await dataset.users(users);
	await Promise.all(
		Array.from({ length: CONVERSATIONS }, (_, index) => {
			// User n is in the fifty conversations from n on.
			const members = users.filter(
				(_user, user) => (index - user + many * CONVERSATIONS) % CONVERSATIONS < CONVERSATIONS_EACH,
			);
			return dataset.channel(members).done;
		}),
	);
	await dataset.close();
	const server = await startReporting(bench, dataDir);
	const look = async (expected: number) => {
		const resident = await settledBytes(server.pid);
		const { alive, sockets } = await server.heap();
		// Sockets that the server has closed take no memory: the figure would be too low.
		if (sockets < expected) throw new Error(`only ${sockets} of ${expected} sockets are open`);
		return { resident, alive };
	};
	await connect(bench, server, users.slice(0, few));
	const before = await look(few);
	await connect(bench, server, users.slice(few));
	const after = await look(many);
	await server.kill();
	const each = (which: keyof Growth): number => (after[which] - before[which]) / (many - few);
	return { resident: each('resident'), alive: each('alive') };
}

/** A server that reports how many bytes and sockets are alive on its heap. */
async function startReporting(bench: Bench, dataDir: string) {
	const child = Bun.spawn([BUN, `${ROOT}/bench/load/idle-server.ts`, dataDir], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	bench.atEnd(() => end(child, 'SIGKILL'));
	const lines = new LineReader(child.stdout);
	const port = Number((await lines.next()).split(' ')[1]);
	return {
		pid: child.pid,
		port,
		url: `http://127.0.0.1:${port}`,
		heap: async () => {
			child.stdin.write('\n');
			await child.stdin.flush();
			return JSON.parse(await lines.next()) as { alive: number; sockets: number };
		},
		kill: () => end(child, 'SIGKILL'),
	};
}

async function connect(
	bench: Bench,
	server: { readonly url: string; readonly port: number },
	users: readonly string[],
): Promise<void> {
	const paths: string[] = [];
	await inParts(users.length, 64, async (from, to) => {
		const tickets = users.slice(from, to).map((user) => ticketFor(server.url, tokenOf(user)));
		for (const ticket of await Promise.all(tickets)) paths.push(`/rtm?ticket=${ticket}`);
	});
	await Listeners.connect(bench, server.port, paths);
}

async function perBareConnection(bench: Bench, few: number, many: number): Promise<number> {
	const { pid, port } = await bareBun(bench);
	const paths = (count: number) => Array.from({ length: count }, () => '/');
	await Listeners.connect(bench, port, paths(few));
	const before = await settledBytes(pid);
	await Listeners.connect(bench, port, paths(many - few));
	return ((await settledBytes(pid)) - before) / (many - few);
}

/**
 * Waits until the process has been idle for a while. Even then its memory rises and falls by a few megabytes, because it pings all sockets:
 * returns the median of some seconds.
 */
async function settledBytes(pid: number): Promise<number> {
	await Bun.sleep(IDLE_MS);
	const samples: number[] = [];
	while (samples.length < SAMPLES) {
		await Bun.sleep(SAMPLE_MS);
		samples.push(residentBytes(pid));
	}
	return median(samples);
}
