import { openEmbeddedEngine } from '../../src/app/engine.ts';
import { startSolePartition } from '../../src/app/sole-partition.ts';
import { Requests } from '../../src/gateway/requests.ts';
import { TEAM } from '../support/dataset.ts';

/**
 * Posts without the network: log, worker, read state, store and answer in one process, as `serve` composes them. Prints
 * the posts per second of each round.
 */

export interface PipelineSpec {
	readonly dataDir: string;
	readonly places: readonly { readonly user: string; readonly channel: string }[];
	readonly inFlight: number;
	readonly count: number;
	readonly rounds: number;
	readonly text: string;
}

export interface PipelineReport {
	readonly perSecond: readonly number[];
	readonly cpuMicros: readonly number[];
}

if (import.meta.main) {
	const spec = JSON.parse(await new Response(Bun.stdin.stream()).text()) as PipelineSpec;
	const engine = await openEmbeddedEngine(spec.dataDir);
	startSolePartition(engine, {
		report: (error) => {
			throw error;
		},
	});
	const requests = new Requests(engine.log, engine.bus, 'local', engine.clock);
	const report: PipelineReport = { perSecond: [], cpuMicros: [] };
	for (let round = 0; round <= spec.rounds; round += 1) {
		const cpu = process.cpuUsage();
		const started = performance.now();
		await post(requests, spec);
		const seconds = (performance.now() - started) / 1000;
		const { user, system } = process.cpuUsage(cpu);
		// The first round warms up.
		if (round === 0) continue;
		(report.perSecond as number[]).push(spec.count / seconds);
		(report.cpuMicros as number[]).push((user + system) / spec.count);
	}
	requests.close();
	await engine.close();
	console.log(JSON.stringify(report));
	process.exit(0);
}

async function post(requests: Requests, { places, count, inFlight, text }: PipelineSpec): Promise<void> {
	let sent = 0;
	const one = async (): Promise<void> => {
		while (sent < count) {
			const { user, channel } = places[sent % places.length] as PipelineSpec['places'][number];
			sent += 1;
			await requests.submit({ user, team: TEAM }, channel, {
				type: 'post',
				content: { text, extra: null },
				threadTs: null,
				broadcast: false,
				clientMsgId: null,
			});
		}
	};
	await Promise.all(Array.from({ length: inFlight }, one));
}
