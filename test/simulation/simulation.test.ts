import { expect, test } from 'bun:test';
import type { Job, Line } from './child.ts';
import { PLANTED, sourceWithBug } from './planted.ts';
import { describe, type ShapeName, simulate } from './simulate.ts';
import { unsimulated } from './sources.ts';

/** As many short histories as fit into some seconds of one core; `npm run simulate` runs more and longer ones. */

const SHAPES: readonly ShapeName[] = ['embedded', 'cluster'];
/** CPU time, so that a busy machine runs as many histories as an idle one. */
const BUDGET_MS = 25_000;
/** Wall-clock limit, so that the test ends in time on a very busy machine. */
const LONGEST_MS = 150_000;
const LEAST = 3;
/** One history in this many has a second round, in which workers that were paused in the first one resume. */
const LONGER = 4;

const cpuMs = (): number => {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1_000;
};

for (const shape of SHAPES)
	test(`${shape}: after histories with faults, the server and every device agree with the oracle`, () => {
		const began = cpuMs();
		const end = performance.now() + LONGEST_MS;
		const isTime = (): boolean => cpuMs() - began < BUDGET_MS && performance.now() < end;
		for (let seed = 1; seed <= LEAST || isTime(); seed += 1) {
			const rounds = seed % LONGER === 0 ? 2 : 1;
			const { error } = simulate(seed, { shape, rounds });
			if (error !== null)
				throw new Error(
					`npm run simulate -- --seed ${seed} --shape ${shape} --rounds ${rounds} --trace\n${describe(error)}`,
				);
		}
	}, 300_000);

for (const shape of SHAPES)
	test(`${shape}: a seed gives the same history each time`, () => {
		const [first, second] = [simulate(7, { shape, rounds: 1 }), simulate(7, { shape, rounds: 1 })];
		expect(second.hash).toBe(first.hash);
		expect(second.events).toBe(first.events);
	}, 60_000);

test('the code under simulation takes time and randomness only from simulated sources', () => {
	expect(unsimulated()).toEqual([]);
});

test('every planted bug can still be planted', () => {
	for (const name of Object.keys(PLANTED)) expect(sourceWithBug(name).contents).not.toBe('');
});

/** A bug that almost every history reveals; `npm run simulate -- --planted` looks for all of them. */
for (const name of ['skips a persist'])
	test(`a planted bug is found: ${name}`, async () => {
		const { shape = 'embedded' } = PLANTED[name] ?? {};
		const job: Job = {
			from: 1,
			process: 0,
			processes: 1,
			count: 20,
			shapes: [shape],
			untilMs: 60_000,
			plant: name,
			stopAtFailure: true,
		};
		const child = Bun.spawn([process.execPath, `${import.meta.dir}/child.ts`, JSON.stringify(job)], {
			stdout: 'pipe',
		});
		const lines = (await new Response(child.stdout).text()).trim().split('\n');
		const last = JSON.parse(lines.at(-1) ?? '{}') as Line;
		expect(last.error).toMatch(/oracle .*server|fresh .*shown/);
	}, 120_000);
