import { Dataset, tokenOf } from '../support/dataset.ts';
import { figure, quantile } from '../support/figures.ts';
import { fillHalfRead, MESSAGES_EACH, readerOf } from '../support/half-read.ts';
import { cpuSeconds } from '../support/process-cpu.ts';
import type { Scenario } from '../support/scenario.ts';
import { type BenchServer, startServer } from '../support/server.ts';
import { boundMsBetween, meanMsBetween, serverTimes } from '../support/server-times.ts';

/** What a client requests when it starts: all counts of its user. */

const SIZES = {
	quick: [50, 1_000],
	standard: [50, 1_000, 100_000],
	full: [50, 1_000, 100_000],
} as const;
/** Milliseconds, p99 on the server. */
const TARGETS: Readonly<Record<number, number>> = { 50: 0.5, 1000: 2, 100000: 150 };

export const clientCounts: Scenario = {
	name: 'client-counts',
	about: 'client.counts of users in few and in very many conversations, warm and first call after a start',
	run: async (bench) => {
		const sizes = SIZES[bench.scale];
		const dataDir = bench.directory('data');
		const dataset = await Dataset.open(dataDir);
		await fillHalfRead(bench, dataset, sizes);
		await dataset.close();
		const cold = sizes.map(() => [] as number[]);
		const warm = sizes.map(() => ({
			p50: [] as number[],
			p99: [] as number[],
			server: [] as number[],
			bound: [] as number[],
			cpu: [] as number[],
		}));
		let bytes = sizes.map(() => 0);
		for (let run = 0; run < bench.runs; run += 1) {
			const server = await startServer(bench, dataDir);
			for (const [index, size] of sizes.entries()) {
				const first = await call(server, size);
				bytes = bytes.with(index, first.bytes);
				cold[index]?.push(first.ms);
				const round = await warmRound(server, size);
				warm[index]?.p50.push(round.p50);
				warm[index]?.p99.push(round.p99);
				warm[index]?.server.push(round.server);
				warm[index]?.bound.push(round.bound);
				warm[index]?.cpu.push(round.cpu);
				bench.progress(`in ${size}: first ${first.ms.toFixed(1)} ms, then p99 ${round.p99.toFixed(2)} ms`);
			}
			await server.stop();
		}
		return {
			configuration: {
				data: `every conversation has ${MESSAGES_EACH} messages; the user has read every second conversation`,
				calls: sizes.map((size) => `${callsFor(size)} (in ${size})`).join(', '),
				answers: sizes.map((size, index) => `${bytes[index]} bytes (in ${size})`).join(', '),
				measured:
					'at the client over one keep-alive connection, without parsing the answer; “on the server” from the server’s histogram, whose bounds are 0.5, 1, 2, 4, 6, 10, 20, 50, 100, 150, 250 … ms; after half as many calls to warm up',
			},
			figures: sizes.flatMap((size, index) => {
				const target = TARGETS[size];
				const of = warm[index];
				return [
					figure(
						`user in ${size} conversations: p99 on the server, upper bound`,
						'ms',
						of?.bound ?? [],
						target === undefined ? undefined : { atMost: target },
					),
					figure(`user in ${size} conversations: p99 at the client`, 'ms', of?.p99 ?? []),
					figure(`user in ${size} conversations: p50 at the client`, 'ms', of?.p50 ?? []),
					figure(`user in ${size} conversations: mean on the server`, 'ms', of?.server ?? []),
					figure(`user in ${size} conversations: CPU of the server per call`, 'ms', of?.cpu ?? []),
					figure(`user in ${size} conversations: first call after a start`, 'ms', cold[index] ?? []),
				];
			}),
			notes: [
				'Conversations and messages were written into the data directory beforehand, through the store’s ledger.',
				'“At the client” includes loopback and the client’s work, which shares the machine.',
			],
		};
	},
};

const callsFor = (size: number): number => (size > 10_000 ? 30 : 1_000);

async function warmRound(server: BenchServer, size: number) {
	const times: number[] = [];
	for (let index = 0; index < callsFor(size) / 2; index += 1) await call(server, size);
	const before = { cpu: cpuSeconds(server.pid), times: await serverTimes(server.url, 'client.counts') };
	const calls = callsFor(size);
	for (let index = 0; index < calls; index += 1) times.push((await call(server, size)).ms);
	const after = { cpu: cpuSeconds(server.pid), times: await serverTimes(server.url, 'client.counts') };
	return {
		p50: quantile(times, 0.5),
		p99: quantile(times, 0.99),
		server: meanMsBetween(before.times, after.times),
		bound: boundMsBetween(before.times, after.times, 0.99),
		cpu: ((after.cpu - before.cpu) / calls) * 1000,
	};
}

async function call(server: BenchServer, size: number): Promise<{ ms: number; bytes: number }> {
	const started = performance.now();
	const response = await fetch(`${server.url}/api/client.counts`, {
		method: 'POST',
		headers: { authorization: `Bearer ${tokenOf(readerOf(size))}` },
	});
	const body = await response.arrayBuffer();
	const ms = performance.now() - started;
	if (!Buffer.from(body, 0, 12).toString().startsWith('{"ok":true'))
		throw new Error('client.counts was rejected');
	return { ms, bytes: body.byteLength };
}
