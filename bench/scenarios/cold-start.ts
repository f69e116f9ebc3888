import { type Figure, figure, quantile } from '../support/figures.ts';
import { fillLarge } from '../support/large-workspace.ts';
import { KINDS, type Kind, mixedLoad, RATES, type Round } from '../support/mixed-load.ts';
import { type Timed, windowsOf } from '../support/paced.ts';
import { needCompiler } from '../support/peers.ts';
import type { Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';

/** A server starts with nothing in memory, and all users connect at once. */

const WINDOW_MS = 5_000;

export const coldStart: Scenario = {
	name: 'cold-start',
	about:
		'Posts, marks and counts from the moment a server starts on a large workspace, until its memory is warm',
	run: async (bench) => {
		needCompiler();
		const sizes = {
			channels: bench.pick(40, 400, 400),
			longest: bench.pick(1_000, 20_000, 20_000),
			users: bench.pick(400, 4_000, 4_000),
			each: 20,
		};
		const sockets = bench.pick(200, 2_000, 2_000);
		const seconds = bench.pick(10, 30, 60);
		const dataDir = bench.directory('data');
		const workspace = await fillLarge(bench, dataDir, sizes);
		const rounds: Round[] = [];
		for (let run = 0; run < bench.runs; run += 1) {
			const server = await startServer(bench, dataDir);
			const round = await mixedLoad(bench, server, workspace, { sockets, seconds });
			await server.stop();
			rounds.push(round);
			for (const kind of KINDS) bench.progress(`${kind}, p50/p99 per 5 s: ${summary(round[kind])}`);
		}
		return {
			configuration: {
				data: `${workspace.messages} messages in ${sizes.channels} channels (every tenth has ${sizes.longest}), ${sizes.users} users in ${sizes.each} channels each; a third has read everything, the others are behind by up to the whole history`,
				load: `from the start: ${RATES.posts} posts with client_msg_id, ${RATES.marks} marks and ${RATES.counts} client.counts per second, each by a random user; ${sockets} sockets connect meanwhile`,
				measured: 'at the client, from when a call was due by the clock; windows of 5 s from the start',
			},
			figures: KINDS.flatMap((kind) => figuresOf(kind, rounds)),
			notes: ['The files are in the page cache; what is cold is the server’s memory.'],
		};
	},
};

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const summary = (calls: readonly Timed[]): string =>
	windowsOf(calls, WINDOW_MS)
		.map((times) => `${ms(quantile(times, 0.5))}/${ms(quantile(times, 0.99))}`)
		.join(' ');

function figuresOf(kind: Kind, rounds: readonly Round[]): Figure[] {
	const windows = rounds.map((round) => windowsOf(round[kind], WINDOW_MS));
	return (windows[0] ?? []).flatMap((_, index) => {
		const from = (index * WINDOW_MS) / 1000;
		const span = `${kind}, from ${from} to ${from + WINDOW_MS / 1000} s`;
		const of = (share: number) => windows.map((round) => quantile(round[index] ?? [], share));
		return [figure(`${span}: p99`, 'ms', of(0.99)), figure(`${span}: median`, 'ms', of(0.5))];
	});
}
