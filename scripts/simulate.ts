import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Job, Line } from '../test/simulation/child.ts';
import { CoverageReport } from '../test/simulation/coverage.ts';
import { PLANTED, plant } from '../test/simulation/planted.ts';
import type { ShapeName } from '../test/simulation/simulate.ts';

/**
 * `npm run simulate`: whole installations in one process, from one seed. docs/simulation.md lists what is simulated.
 */

const HELP = `npm run simulate -- [options]

  --histories N    number of histories to run, on all cores (1000)
  --hours H        run for this long instead, and report every minute
  --from N         first seed (1)
  --shape NAME     embedded or cluster; default: both in turn
  --seed N         run one history; add --rounds, --faults and --without as a failure printed them
  --trace          print everything that happens in that history
  --paths          at the end, list the paths that the program took under each fault
  --planted        plant one bug at a time, which the simulation has to find; --planted=NAME plants one of them
  --plant NAME     with --seed: run that history with this bug
`;

const CORES = Math.max(1, cpus().length);
const HISTORIES = 1_000;
const HOUR_MS = 3_600_000;
const REPORT_EVERY_MS = 60_000;

const { values: options } = parseArgs({
	args: process.argv.slice(2).map((arg) => (arg === '--planted' ? '--planted=' : arg)),
	options: {
		help: { type: 'boolean', default: false },
		histories: { type: 'string' },
		hours: { type: 'string' },
		from: { type: 'string', default: '1' },
		shape: { type: 'string' },
		seed: { type: 'string' },
		rounds: { type: 'string' },
		faults: { type: 'string' },
		without: { type: 'string' },
		trace: { type: 'boolean', default: false },
		paths: { type: 'boolean', default: false },
		planted: { type: 'string' },
		plant: { type: 'string' },
	},
});

const SHAPES: readonly ShapeName[] = ['embedded', 'cluster'];
const shapes: readonly ShapeName[] = options.shape ? [options.shape as ShapeName] : SHAPES;

if (options.help) console.log(HELP);
else if (options.seed !== undefined) process.exit(await runOne(Number(options.seed)));
else if (options.planted !== undefined) process.exit(await findPlanted());
else process.exit(await runMany());

async function runOne(seed: number): Promise<number> {
	if (options.plant) plant(options.plant);
	const { simulate, describe } = await import('../test/simulation/simulate.ts');
	const { rounds, faults, without } = options;
	const ran = simulate(seed, {
		shape: shapes[seed % shapes.length] as ShapeName,
		trace: options.trace,
		...(rounds === undefined ? {} : { rounds: Number(rounds) }),
		...(faults === undefined ? {} : { faults: faults.split(',').filter(Boolean) }),
		...(without === undefined ? {} : { without: new Set(without.split(',').filter(Boolean).map(Number)) }),
	});
	for (const line of ran.lines) console.log(line);
	console.log(
		`seed ${seed}, ${ran.shape}: ${ran.events} events, ${(ran.simulatedMs / 1000).toFixed(1)} simulated seconds, hash ${ran.hash}`,
	);
	console.log(`faults: ${ran.plan.faults.join(', ') || 'none'}`);
	console.log(ran.error === null ? 'nothing is wrong' : `WRONG: ${describe(ran.error)}`);
	return ran.error === null ? 0 : 1;
}

async function runMany(): Promise<number> {
	const untilMs = options.hours === undefined ? Number.MAX_SAFE_INTEGER : Number(options.hours) * HOUR_MS;
	const histories =
		options.hours === undefined ? Number(options.histories ?? HISTORIES) : Number.MAX_SAFE_INTEGER;
	const began = performance.now();
	const totals = { histories: 0, events: 0, simulatedMs: 0 };
	const coverage = new CoverageReport();
	const failures: Line[] = [];
	let reported = began;
	const summary = (): string => {
		const seconds = (performance.now() - began) / 1000;
		return (
			`${totals.histories} histories, ${failures.length} wrong; ${totals.events} events, ` +
			`${(totals.simulatedMs / HOUR_MS).toFixed(1)} simulated hours in ${seconds.toFixed(0)} s`
		);
	};
	await runJobs({ histories, untilMs, plant: null, stopAtFailure: false }, (line) => {
		totals.histories += 1;
		totals.events += line.events;
		totals.simulatedMs += line.simulatedMs;
		coverage.add(line.shape, line.covered);
		if (line.error !== null) {
			failures.push(line);
			console.log(`WRONG: seed ${line.seed}, ${line.shape}: ${line.error}`);
			console.log(`  npm run simulate -- --seed ${line.seed} --shape ${line.shape} --trace`);
		}
		if (performance.now() - reported < REPORT_EVERY_MS) return;
		reported = performance.now();
		console.log(summary());
	});
	console.log('Faults, and the paths that the program took under them (--paths lists each):');
	for (const line of coverage.lines(options.paths)) console.log(line);
	console.log(summary());
	const [first] = failures.sort((a, b) => a.seed - b.seed);
	if (first) await showShortened(first);
	return failures.length === 0 ? 0 : 1;
}

/** Prints the smallest history that still shows the failure. */
async function showShortened({ seed, shape }: Line): Promise<void> {
	const { simulate, describe } = await import('../test/simulation/simulate.ts');
	const { shorten } = await import('../test/simulation/shorten.ts');
	const { ran, options: shortened } = shorten(simulate(seed, { shape }));
	const reported = [
		`--seed ${seed} --shape ${shape} --rounds ${shortened.rounds}`,
		`--faults "${shortened.faults.join(',')}"`,
		`--without "${[...shortened.without].join(',')}"`,
	].join(' ');
	console.log(`\nShortened to: npm run simulate -- ${reported} --trace`);
	console.log(describe(ran.error));
	const { lines } = simulate(seed, { shape, ...shortened, trace: true });
	for (const line of lines.filter((text) => /round|asks|fault:|failed|starts/.test(text))) console.log(line);
}

async function findPlanted(): Promise<number> {
	const names = options.planted ? [options.planted] : Object.keys(PLANTED);
	let missed = 0;
	for (const name of names) {
		let found: Line | undefined;
		let ran = 0;
		const { shape } = PLANTED[name] ?? {};
		await runJobs(
			{
				histories: Number(options.histories ?? HISTORIES),
				untilMs: HOUR_MS,
				plant: name,
				stopAtFailure: true,
				only: shape,
			},
			(line) => {
				ran += 1;
				if (line.error !== null && (!found || line.seed < found.seed)) found = line;
			},
		);
		const problem = found ? await replayProblem(name, found) : `not in ${ran} histories`;
		if (problem !== null) missed += 1;
		console.log(
			found && problem === null
				? `found    ${name}: seed ${found.seed}, ${found.shape}, after ${ran} histories: ${found.error?.split('\n')[0]}`
				: `MISSED   ${name}: ${problem}`,
		);
	}
	return missed;
}

/** Null: the seed alone shows the bug again, and without the bug nothing is wrong with it. */
async function replayProblem(name: string, { seed, shape }: Line): Promise<string | null> {
	const isWrong = async (...more: readonly string[]): Promise<boolean> => {
		const args = [process.argv[1] as string, '--seed', String(seed), '--shape', shape, ...more];
		return (await Bun.spawn([process.execPath, ...args], { stdout: 'ignore' }).exited) !== 0;
	};
	if (!(await isWrong('--plant', name))) return `seed ${seed}, ${shape} does not replay`;
	return (await isWrong()) ? `seed ${seed}, ${shape} is wrong without the bug too` : null;
}

interface Jobs extends Pick<Job, 'untilMs' | 'plant' | 'stopAtFailure'> {
	readonly histories: number;
	readonly only?: ShapeName | undefined;
}

async function runJobs({ histories, only, ...rest }: Jobs, onLine: (line: Line) => void): Promise<void> {
	const program = new URL('../test/simulation/child.ts', import.meta.url).pathname;
	const children = Array.from({ length: Math.min(CORES, histories) }, (_, core) => {
		const job: Job = {
			...rest,
			from: Number(options.from),
			process: core,
			processes: CORES,
			count: Math.ceil((histories - core) / CORES),
			shapes: only ? [only] : shapes,
		};
		return Bun.spawn([process.execPath, program, JSON.stringify(job)], { stdout: 'pipe', stderr: 'inherit' });
	});
	await Promise.all(
		children.map(async (child) => {
			for await (const line of linesOf(child.stdout)) {
				const ran = JSON.parse(line) as Line;
				onLine(ran);
				if (ran.error !== null && rest.stopAtFailure) for (const each of children) each.kill();
			}
			const code = await child.exited;
			if (code !== 0 && !child.killed) throw new Error(`a process of the simulation ended with ${code}`);
		}),
	);
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	let rest = '';
	for await (const piece of stream) {
		const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
		rest = lines.pop() ?? '';
		yield* lines;
	}
}
