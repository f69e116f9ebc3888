import { expect, test } from 'bun:test';
import type { Job, Line } from './child.ts';
import { realNowMs } from './globals.ts';
import { PLANTED } from './planted.ts';
import { describe, type ShapeName, simulate } from './simulate.ts';
import { unsimulated } from './sources.ts';

/** As many simulated histories as fit; `npm run simulate` runs more. */

const SHAPES: readonly ShapeName[] = ['embedded', 'cluster'];
const BUDGET_MS = 4_000;
const LEAST = 3;

for (const shape of SHAPES)
	test(`${shape}: histories with faults, each of which the oracle and every device agree with`, () => {
		const began = realNowMs();
		for (let seed = 1; seed <= LEAST || realNowMs() - began < BUDGET_MS; seed += 1) {
			const { error } = simulate(seed, { shape });
			if (error !== null)
				throw new Error(`npm run simulate -- --seed ${seed} --shape ${shape} --trace\n${describe(error)}`);
		}
	}, 300_000);

for (const shape of SHAPES)
	test(`${shape}: a seed gives the same history each time`, () => {
		const [first, second] = [simulate(7, { shape, rounds: 1 }), simulate(7, { shape, rounds: 1 })];
		expect(second.hash).toBe(first.hash);
		expect(second.events).toBe(first.events);
	}, 60_000);

test('time and chance come from nowhere that is not simulated', () => {
	expect(unsimulated()).toEqual([]);
});

/** Those that show in almost every history: `npm run simulate -- --planted` looks for all. */
for (const name of ['skips a persist'])
	test(`a planted bug is found: ${name}`, async () => {
		const { shape = 'embedded' } = PLANTED[name] ?? {};
		const job: Job = {
			from: 1,
			step: 1,
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
