import { bench } from '../load/bench.ts';
import { ProgressLine } from '../load/progress.ts';
import { reportOf } from '../load/report.ts';
import { ADMINISTRATOR_SETTINGS, adminClient, serverUrl, URL_FLAG } from './admin-client.ts';
import { LOAD_FLAGS, readLoad } from './bench-options.ts';
import type { CliCommand } from './command.ts';
import { stopSignal } from './command-serve.ts';
import { filesFinding } from './doctor/machine.ts';

/** `tidemark bench`: measures how much load a running server handles. */

export const benchCommand: CliCommand = {
	summary: 'Put load on a running server or cluster; report latencies, losses and whether counts are exact.',
	usage: '[--url http://localhost:8080] [--rate 100] [--members 50] [--online 100] [--seconds 15] [--json] …',
	details: [
		'It creates a workspace, named "tidemark bench" plus the time, with as many users as the larger of --members and --online.',
		'A workspace cannot be deleted: to keep yours clean, measure a server that has a separate data directory.',
		'Ctrl-C stops the run and reports the result so far. Exits with 1 if messages were lost or repeated, if counts',
		'are wrong or could not be fetched, or if no post was measured.',
	],
	options: {
		url: URL_FLAG,
		...LOAD_FLAGS,
		json: { help: 'print the result as JSON; progress goes to standard error', takesValue: false },
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const load = readLoad(invocation.options);
		const url = serverUrl(invocation);
		const admin = await adminClient(invocation);
		const files = await filesFinding(load.online);
		if (files.state === 'bad')
			throw new Error(`open files: ${files.found}. ${files.fix}, or lower --online.`);
		const ending = new AbortController();
		void stopSignal().then(() => ending.abort(new Error('interrupted before the measurement started')));
		const progress = new ProgressLine(process.stderr, performance.now.bind(performance));
		progress.say(
			`tidemark bench of ${url}: ${load.rate} posts per second to ${load.conversations} conversations of ${load.members} members, ${load.online} users online${load.marks > 0 ? `, ${load.marks} marks per second` : ''}`,
		);
		const result = await bench({
			url,
			admin,
			load,
			name: nameAt(new Date()),
			progress,
			signal: ending.signal,
		});
		console.log(invocation.options.json === 'true' ? JSON.stringify(result, null, 2) : reportOf(result));
		return result.ok ? 0 : 1;
	},
};

/** UTC to the second: distinguishes runs and dates old ones. */
const nameAt = (date: Date): string => `tidemark bench ${date.toISOString().slice(0, 19).replace('T', ' ')}`;
