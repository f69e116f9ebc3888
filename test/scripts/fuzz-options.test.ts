import { expect, test } from 'bun:test';
import { HELP, memoryLimits, readOptions } from '../../scripts/fuzz-options.ts';

/** The command line of `npm run fuzz`. */

test('options have defaults, and wrong options are reported', () => {
	const defaults = { minutes: 1, seed: 7, memoryMb: 0, mostMb: 512, mostWaitMs: 1_000, cluster: false };
	expect(readOptions([], 7)).toEqual(defaults);
	expect(readOptions(['--minutes', '10', '--seed', '4711', '--most-mb', '256'], 7)).toEqual({
		...defaults,
		minutes: 10,
		seed: 4711,
		mostMb: 256,
	});
	expect(readOptions(['--cluster', '--memory', '512', '--most-wait-ms', '0'], 7)).toEqual({
		...defaults,
		memoryMb: 512,
		mostWaitMs: 0,
		cluster: true,
	});
	expect(readOptions(['--help'], 7)).toBe('help');
	for (const argv of [['--minutes'], ['--minutes', 'ten'], ['--minutes', '-1'], ['--forever', '1'], ['10']])
		expect(readOptions(argv, 7)).toHaveProperty('problem');
	for (const option of ['--minutes', '--seed', '--memory', '--most-mb', '--most-wait-ms', '--cluster'])
		expect(HELP).toContain(option);
});

test('the start line names every limit of memory that applies', () => {
	expect(memoryLimits({ memoryMb: 0, mostMb: 512 })).toBe('at most 512 MB');
	expect(memoryLimits({ memoryMb: 1_024, mostMb: 512 })).toBe('at most 512 MB, in a cgroup of 1024 MB');
});
