import { expect, test } from 'bun:test';
import { Fitness } from './fitness.ts';

/** A worker whose Redis answers while `answers` is true. */
function worker() {
	const state = { answers: true };
	const reported: string[] = [];
	const fitness = new Fitness(
		[
			{
				name: 'Redis',
				probe: async () => (state.answers ? undefined : Promise.reject(new Error('no answer'))),
			},
			{ name: 'PostgreSQL', probe: async () => undefined },
		],
		{
			onUnfit: (service, seconds) => reported.push(`no ${service} for ${seconds} s`),
			onAnswering: () => reported.push('answering'),
			onFit: () => reported.push('fit'),
		},
	);
	const rounds = async (count: number): Promise<string> => {
		for (let round = 0; round < count; round += 1) {
			fitness.round();
			await Promise.resolve();
			await Bun.sleep(0);
		}
		return fitness.verdict;
	};
	return { state, reported, fitness, rounds };
}

test('a service that does not answer makes a worker doubtful, then unfit', async () => {
	const { state, reported, rounds } = worker();
	expect(await rounds(3)).toBe('fit');
	state.answers = false;
	expect(await rounds(5)).toBe('fit');
	expect(await rounds(1)).toBe('doubtful');
	expect(await rounds(4)).toBe('doubtful');
	expect(await rounds(1)).toBe('unfit');
	expect(reported).toEqual(['no Redis for 5.5 s']);
});

test('a doubtful worker becomes fit with the first answer, and is never reported', async () => {
	const { state, reported, rounds } = worker();
	state.answers = false;
	expect(await rounds(8)).toBe('doubtful');
	state.answers = true;
	expect(await rounds(2)).toBe('fit');
	expect(reported).toEqual([]);
});

test('an unfit worker becomes fit after enough answered rounds, twice as many each time', async () => {
	const { state, reported, rounds } = worker();
	for (const needed of [10, 20, 40, 80, 160, 160]) {
		state.answers = false;
		expect(await rounds(12)).toBe('unfit');
		state.answers = true;
		// The answer to the first of these rounds is known in the second.
		expect(await rounds(needed)).toBe('unfit');
		expect(await rounds(1)).toBe('fit');
	}
	expect(reported.slice(0, 3)).toEqual(['no Redis for 5.5 s', 'answering', 'fit']);
	// After ten minutes without failures, the number of rounds is back at its minimum.
	expect(await rounds(1_201)).toBe('fit');
	state.answers = false;
	expect(await rounds(12)).toBe('unfit');
	state.answers = true;
	expect(await rounds(11)).toBe('fit');
});
