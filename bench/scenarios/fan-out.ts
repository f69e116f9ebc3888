import { NumberedPosts, peerSide, socketsThatFit, tidemarkSide } from '../support/fan-out-sides.ts';
import { type Figure, figure, quantile, ratio } from '../support/figures.ts';
import { bareBun, CFLAGS, cServer, needCompiler } from '../support/peers.ts';
import { cpuSeconds } from '../support/process-cpu.ts';
import type { Bench, Scenario } from '../support/scenario.ts';

/** One message to every online user, compared with a C server that only writes. */

const PAUSE_MS = 100;

export const fanOut: Scenario = {
	name: 'fan-out',
	about:
		'One message to thousands of sockets of one conversation, against a write loop in C and Bun’s own publish',
	run: async (bench) => {
		needCompiler();
		const { sizes, notes } = socketsThatFit(bench.pick([500], [2_000, 8_000], [2_000, 8_000]));
		const figures: Figure[] = [];
		for (const size of sizes) figures.push(...(await measure(bench, size)));
		return {
			configuration: {
				clients: `one process in C, one socket for each member; gcc ${CFLAGS.join(' ')}`,
				messages: `${messagesOf(bench)} per round, ${PAUSE_MS} ms after all sockets received the previous one; the same bytes from each server`,
				'last socket': 'from just before the post is sent until the last socket has received the message',
				CPU: 'of the whole server process; Tidemark’s includes receiving the post over HTTP, sequencing and storing it',
			},
			figures,
			notes: [
				...notes,
				'All servers run through the whole comparison, each with its own clients connected, and take turns.',
			],
		};
	},
};

const messagesOf = (bench: Bench): number => bench.pick(10, 40, 40);

async function measure(bench: Bench, size: number): Promise<Figure[]> {
	const tidemark = await tidemarkSide(bench, size);
	const { frame } = tidemark;
	const c = await peerSide(bench, 'C', await cServer(bench), size, frame);
	const bun = await peerSide(bench, 'bare Bun', await bareBun(bench), size, frame);
	const sides = [tidemark, c, bun];
	const rounds = sides.map(() => ({ perCpu: [] as number[], p50: [] as number[], p99: [] as number[] }));
	const posts = new NumberedPosts();
	for (let run = 0; run < bench.runs; run += 1)
		for (const [index, side] of sides.entries()) {
			const last: number[] = [];
			const before = cpuSeconds(side.pid);
			for (let message = 0; message < messagesOf(bench); message += 1) {
				last.push((await posts.post(side)).lastMs);
				await Bun.sleep(PAUSE_MS);
			}
			const cpu = cpuSeconds(side.pid) - before;
			rounds[index]?.perCpu.push((messagesOf(bench) * size) / cpu);
			rounds[index]?.p50.push(quantile(last, 0.5));
			rounds[index]?.p99.push(quantile(last, 0.99));
			bench.progress(
				`${size} sockets, ${side.name}: ${Math.round((messagesOf(bench) * size) / cpu)} deliveries per CPU second`,
			);
		}
	const [ours, theirs, bare] = rounds;
	const at = `${size} sockets: `;
	return [
		ratio(`${at}deliveries per CPU second, against C`, ours?.perCpu ?? [], theirs?.perCpu ?? [], {
			atLeast: 0.85,
		}),
		ratio(`${at}deliveries per CPU second, against bare Bun`, ours?.perCpu ?? [], bare?.perCpu ?? []),
		ratio(`${at}last socket’s p99, against C`, ours?.p99 ?? [], theirs?.p99 ?? [], { atMost: 1.3 }),
		...sides.flatMap(({ name }, index) => [
			figure(`${at}${name}, deliveries per CPU second`, '/s', rounds[index]?.perCpu ?? []),
			figure(`${at}${name}, last socket’s p50`, 'ms', rounds[index]?.p50 ?? []),
			figure(`${at}${name}, last socket’s p99`, 'ms', rounds[index]?.p99 ?? []),
		]),
	];
}
