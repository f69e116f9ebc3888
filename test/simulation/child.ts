import type { Covered } from './coverage.ts';
import { plant } from './planted.ts';
import type { ShapeName } from './simulate.ts';

/**
 * Runs the histories of a job one after the other, and prints a line for each; scripts/simulate.ts starts one such process per core. A
 * bug is planted before the code that contains it is loaded.
 */

export interface Job {
	readonly from: number;
	/**
	 * Number of this process. Each process takes as many consecutive seeds as there are shapes, so that it runs all shapes, then skips the
	 * seeds of the other processes.
	 */
	readonly process: number;
	readonly processes: number;
	readonly count: number;
	readonly shapes: readonly ShapeName[];
	readonly untilMs: number;
	readonly plant: string | null;
	readonly stopAtFailure: boolean;
}

export interface Line {
	readonly seed: number;
	readonly shape: ShapeName;
	readonly error: string | null;
	readonly events: number;
	readonly simulatedMs: number;
	readonly covered: Covered;
}

const job = JSON.parse(process.argv[2] as string) as Job;
const began = performance.now();
const elapsedMs = performance.now.bind(performance);
if (job.plant !== null) plant(job.plant);
const { simulate, describe } = await import('./simulate.ts');

for (let index = 0; index < job.count && elapsedMs() - began < job.untilMs; index += 1) {
	const width = job.shapes.length;
	const row = Math.floor(index / width) * job.processes + job.process;
	const seed = job.from + row * width + (index % width);
	const shape = job.shapes[seed % job.shapes.length] as ShapeName;
	const ran = simulate(seed, { shape });
	const line: Line = {
		seed,
		shape,
		error: ran.error === null ? null : describe(ran.error),
		events: ran.events,
		simulatedMs: ran.simulatedMs,
		covered: ran.covered,
	};
	process.stdout.write(`${JSON.stringify(line)}\n`);
	if (ran.error !== null && job.stopAtFailure) break;
}
