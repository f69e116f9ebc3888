// `npm run fuzz`: the long form of test/abuse. Starts a server of its own with default limits, attacks it in rounds, each
// with the seed of the run plus its number, and stops at the first finding. Loopback only.

import { loadavg } from 'node:os';
import { makeCast } from '../test/support/abuse/cast.ts';
import {
	anonymous,
	authenticated,
	type Noticed,
	noticedDuring,
	reconnects,
} from '../test/support/abuse/floods.ts';
import { fuzzHttp } from '../test/support/abuse/http-fuzz.ts';
import { fuzzFrames, fuzzRawFrames } from '../test/support/abuse/socket-fuzz.ts';
import { Random } from '../test/support/oracle/random.ts';
import type { Person } from '../test/support/people.ts';
import { serveProcess, withDirectory } from '../test/support/process.ts';
import { ADMIN_TOKEN } from '../test/support/server.ts';
import { type FuzzOptions, HELP, readOptions } from './fuzz-options.ts';

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

async function run({ minutes, seed, mostMb }: FuzzOptions): Promise<void> {
	const end = performance.now() + minutes * 60_000;
	const totals: Totals = { requests: 0, frames: 0, flooded: 0, peakMb: 0, waitsMs: new Map() };
	await withDirectory(async (directory) => {
		const server = await serveProcess(directory, ['--admin-token', ADMIN_TOKEN]);
		const { url } = server;
		const cast = await makeCast(url, 6);
		const before = JSON.stringify(await cast.seen());
		const { ada } = cast;
		const [flooder, connecter] = cast.strangers.slice(-3) as [Person, Person];
		const { channel } = await flooder.call('conversations.create', { name: 'flooded' });
		const floods = {
			strangers: anonymous,
			'one user': authenticated(flooder, channel.id),
			reconnects: reconnects(connecter),
		};
		const other = { token: ada.token, method: 'client.counts', args: {} };
		const note = (name: string, noticed: Noticed): void => {
			totals.flooded += noticed.requests;
			totals.peakMb = Math.max(totals.peakMb, noticed.peakMb);
			totals.waitsMs.set(name, [...(totals.waitsMs.get(name) ?? []), ...noticed.waitsMs]);
			if (noticed.peakMb > mostMb)
				throw new Error(`the server took ${Math.round(noticed.peakMb)} MB during the flood: ${name}`);
		};
		for (let round = 0; round === 0 || performance.now() < end; round += 1) {
			const random = new Random(seed + round);
			totals.requests += (
				await fuzzHttp(url, { ...cast, strangers: cast.strangers.slice(0, -2) }, random, REQUESTS_PER_ROUND)
			).requests;
			totals.frames += await fuzzFrames(url, cast, random, FRAMES_PER_ROUND);
			await fuzzRawFrames(url, cast, random, 10);
			for (const [name, flood] of Object.entries(floods))
				note(name, await noticedDuring(url, flood, { ...FLOOD, other }));
			if (JSON.stringify(await cast.seen()) !== before)
				throw new Error('the attacks changed what users of another workspace see');
			report(round, seed, totals);
		}
		const { code, err } = await server.end('SIGTERM');
		if (code !== 0) throw new Error(`the server ended with ${code}: ${err.slice(-2_000)}`);
	});
}

function report(round: number, seed: number, { requests, frames, flooded, peakMb, waitsMs }: Totals): void {
	console.log(
		`round ${round} (seed ${seed + round}): ${requests} calls and ${frames} frames fuzzed, ${flooded} in floods; ` +
			`largest ${Math.round(peakMb)} MB; load ${loadavg()[0]?.toFixed(1)}`,
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
	console.log(`fuzz: ${options.minutes} minutes, seed ${options.seed}, at most ${options.mostMb} MB`);
	try {
		await run(options);
		console.log('fuzz: no findings');
	} catch (error) {
		console.error(`fuzz: found with --seed ${options.seed}:\n${(error as Error).message}`);
		process.exitCode = 1;
	}
}
