import { join } from 'node:path';

/** Runs jobs in parallel, and prints the output of each when it ends, so that outputs do not mix. */

/** The result of all checks and tests. Every problem is a line in `failures`; without lines the run has passed. */
export interface RunResult {
	passed: number;
	readonly failures: string[];
	/** Last lines of output of the failed tests. */
	readonly excerpts: string[];
}

export interface Job {
	readonly title: string;
	/** Appends its output to this file. */
	run(output: string): Promise<void>;
}

/** May be more than the number of cores: tests spend most of their time waiting for disks, processes and clocks. */
const MAX_PARALLEL = 5;

/** Starts the jobs in this order, a few at a time. */
export async function runInParallel(jobs: readonly Job[], directory: string): Promise<void> {
	const left = jobs.map((job, index) => ({ job, output: join(directory, `${index}.txt`) }));
	const runNext = async () => {
		for (let next = left.shift(); next; next = left.shift()) await runJob(next.job, next.output);
	};
	await Promise.all(Array.from({ length: MAX_PARALLEL }, runNext));
}

async function runJob({ title, run }: Job, output: string): Promise<void> {
	const began = performance.now();
	console.log(`-- ${title} begins`);
	await Bun.write(output, '');
	await run(output);
	const seconds = Math.round((performance.now() - began) / 1000);
	console.log(`\n== ${title}, ${seconds} s\n${await Bun.file(output).text()}`);
}
