import { Dataset, usersFrom } from '../support/dataset.ts';
import { figure, ratio } from '../support/figures.ts';
import type { Bench, Scenario } from '../support/scenario.ts';
import { startServer } from '../support/server.ts';
import { checkStored } from '../support/stored.ts';

/** The start must not depend on the amount of data. */

const CHANNELS = 100;
const RUNS = 5;

export const startUp: Scenario = {
	name: 'start-up',
	about: 'Time from starting the process until it answers that it is ready',
	run: async (bench) => {
		const messages = bench.pick(20_000, 1_000_000, 1_000_000);
		const full = bench.directory('full');
		await fill(bench, full, messages);
		checkStored(full, messages);
		const starts: Record<'full' | 'empty' | 'killed', number[]> = { full: [], empty: [], killed: [] };
		for (let run = 0; run < RUNS; run += 1) {
			starts.full.push(await timeStart(bench, full, 'kill'));
			starts.killed.push(await timeStart(bench, full, 'stop'));
			starts.empty.push(await timeStart(bench, bench.directory(`empty-${run}`), 'stop'));
			bench.progress(`${starts.full[run]?.toFixed(0)} ms full, ${starts.empty[run]?.toFixed(0)} ms empty`);
		}
		return {
			configuration: {
				data: `${messages} messages in ${CHANNELS} channels, one data directory`,
				measured: 'from spawning bin/tidemark to the answer of /readyz; the files are in the page cache',
			},
			figures: [
				figure(`ready with ${messages} messages`, 'ms', starts.full, { atMost: 1000 }),
				figure('the same, after kill -9 of an idle server', 'ms', starts.killed, { atMost: 1000 }),
				figure('ready with an empty directory', 'ms', starts.empty),
				ratio(`${messages} messages against an empty directory`, starts.full, starts.empty),
			],
			notes: ['Messages were written into the data directory beforehand, through the store’s ledger.'],
		};
	},
};

async function fill(bench: Bench, dataDir: string, messages: number): Promise<void> {
	bench.progress(`making ${messages} messages`);
	const dataset = await Dataset.open(dataDir);
	const users = usersFrom(0, 10);
	await dataset.users(users);
	for (let index = 0; index < CHANNELS; index += 1) {
		const { conversation } = dataset.channel(users);
		await dataset.messages(conversation, users[0] ?? '', messages / CHANNELS, users);
	}
	await dataset.close();
}

async function timeStart(bench: Bench, dataDir: string, how: 'stop' | 'kill'): Promise<number> {
	const server = await startServer(bench, dataDir);
	await server[how]();
	return server.startMs;
}
