// `npm run fuzz`: the long form of test/abuse. Starts its own server or cluster with default limits and attacks it in rounds until
// the first finding. The seed of a round is the seed of the run plus the round's number. Loopback only.

import { loadavg } from 'node:os';
import { makeCast } from '../test/support/abuse/cast.ts';
import {
	anonymous,
	authenticated,
	type Noticed,
	noticedDuring,
	type OtherUser,
	reconnects,
} from '../test/support/abuse/floods.ts';
import { fuzzHttp } from '../test/support/abuse/http-fuzz.ts';
import { NoMemoryLimit } from '../test/support/abuse/memory-limit.ts';
import { fuzzFrames, fuzzRawFrames } from '../test/support/abuse/socket-fuzz.ts';
import { Random } from '../test/support/oracle/random.ts';
import { makeWorkspace, type Person } from '../test/support/people.ts';
import { type FuzzOptions, HELP, memoryLimits, readOptions } from './fuzz-options.ts';
import { withTarget } from './fuzz-target.ts';

const REQUESTS_PER_ROUND = 3_000;
const FRAMES_PER_ROUND = 1_000;
const FLOOD = { forMs: 5_000, atOnce: 64 };

interface Totals {
	requests: number;
	frames: number;
	flooded: number;
	peakMb: number;
	/** By flood. */
	readonly waitsMs: Map<string, number[]>;
}

async function run(options: FuzzOptions): Promise<void> {
	const { minutes, seed } = options;
	const totals: Totals = { requests: 0, frames: 0, flooded: 0, peakMb: 0, waitsMs: new Map() };
	await withTarget(options, async ({ url, cgroupPeakMb }) => {
		const cast = await makeCast(url, 6);
		const other = await bystander(url);
		const before = JSON.stringify(await cast.seen());
		// The floods spend the limits of these two. fuzzHttp never uses the last stranger that it gets, and
		// fuzzFrames uses only the last one, so neither uses these two.
		const [flooder, connecter] = cast.strangers.slice(-3) as [Person, Person];
		const { channel } = await flooder.call('conversations.create', { name: 'flooded' });
		const floods = {
			'no token': anonymous,
			'one user': authenticated(flooder, channel.id),
			reconnects: reconnects(connecter),
		};
		const end = performance.now() + minutes * 60_000;
		for (let round = 0; round === 0 || performance.now() < end; round += 1) {
			const random = new Random(seed + round);
			totals.requests += (
				await fuzzHttp(url, { ...cast, strangers: cast.strangers.slice(0, -2) }, random, REQUESTS_PER_ROUND)
			).requests;
			totals.frames += await fuzzFrames(url, cast, random, FRAMES_PER_ROUND);
			await fuzzRawFrames(url, cast, random, 10);
			const noticed: [string, Noticed][] = [];
			for (const [name, flood] of Object.entries(floods))
				noticed.push([name, await noticedDuring(url, flood, { ...FLOOD, other })]);
			for (const [name, { requests, peakMb, waitsMs }] of noticed) {
				totals.flooded += requests;
				totals.peakMb = Math.max(totals.peakMb, peakMb);
				totals.waitsMs.set(name, [...(totals.waitsMs.get(name) ?? []), ...waitsMs]);
			}
			report(round, seed, totals, cgroupPeakMb());
			for (const [name, { peakMb, waitsMs }] of noticed) judge(options, name, peakMb, waitsMs.at(-1) ?? 0);
			if (JSON.stringify(await cast.seen()) !== before)
				throw new Error('the attacks changed what users of another workspace see');
		}
	});
}

/** A user of another workspace, who fetches counts and posts in turn. */
async function bystander(url: string): Promise<OtherUser> {
	const { people } = await makeWorkspace(url, 1, 'Bystanders');
	const [person] = people as [Person];
	const { channel } = await person.call('conversations.create', { name: 'calm' });
	const calls = [
		['client.counts', {}],
		['chat.postMessage', { channel: channel.id, text: 'still here' }],
	] as const;
	return { token: person.token, calls };
}

function judge({ mostMb, mostWaitMs }: FuzzOptions, flood: string, peakMb: number, longestMs: number): void {
	if (peakMb > mostMb) throw new Error(`the server took ${Math.round(peakMb)} MB during the flood: ${flood}`);
	if (mostWaitMs > 0 && longestMs > mostWaitMs)
		throw new Error(
			`another user waited ${Math.round(longestMs)} ms during the flood: ${flood} ` +
				`(load ${loadavg()[0]?.toFixed(1)}; on a busy machine this says little)`,
		);
}

function report(
	round: number,
	seed: number,
	{ requests, frames, flooded, peakMb, waitsMs }: Totals,
	kernelMb: number | null,
): void {
	const byKernel =
		kernelMb === null ? '' : ` (${Math.round(kernelMb)} MB in its cgroup, page cache included)`;
	console.log(
		`round ${round} (seed ${seed + round}): ${requests} calls and ${frames} frames fuzzed, ${flooded} in floods; ` +
			`largest ${Math.round(peakMb)} MB${byKernel}; load ${loadavg()[0]?.toFixed(1)}`,
	);
	for (const [name, waits] of waitsMs) {
		const sorted = waits.toSorted((one, other) => one - other);
		const at = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
		console.log(
			`  another user waited during floods (${name}): ` +
				`median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms of ${sorted.length} calls`,
		);
	}
}

const options = readOptions(process.argv.slice(2), Math.floor(Math.random() * 1_000_000));
if (options === 'help') {
	console.log(HELP);
} else if ('problem' in options) {
	console.error(`fuzz: ${options.problem}\n\n${HELP}`);
	process.exitCode = 2;
} else {
	const { minutes, seed, cluster } = options;
	const limit = memoryLimits(options);
	console.log(`fuzz: ${minutes} minutes, seed ${seed}, ${limit}${cluster ? ', a gateway of a cluster' : ''}`);
	try {
		await run(options);
		console.log('fuzz: no findings');
	} catch (error) {
		const found = !(error instanceof NoMemoryLimit);
		const { message } = error as Error;
		console.error(found ? `fuzz: found with --seed ${seed}:\n${message}` : `fuzz: not run: ${message}`);
		process.exitCode = found ? 1 : 2;
	}
}
