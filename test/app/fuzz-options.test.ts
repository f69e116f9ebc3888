import { expect, test } from 'bun:test';
import { HELP, readOptions } from '../../scripts/fuzz-options.ts';

/** The command line of `npm run fuzz`. */

test('defaults, options, and what is wrong with them', () => {
	expect(readOptions([], 7)).toEqual({ minutes: 1, seed: 7, mostMb: 512 });
	expect(readOptions(['--minutes', '10', '--seed', '4711', '--most-mb', '256'], 7)).toEqual({
		minutes: 10,
		seed: 4711,
		mostMb: 256,
	});
	expect(readOptions(['--help'], 7)).toBe('help');
	for (const argv of [['--minutes'], ['--minutes', 'ten'], ['--minutes', '-1'], ['--forever', '1'], ['10']])
		expect(readOptions(argv, 7)).toHaveProperty('problem');
	for (const option of ['--minutes', '--seed', '--most-mb']) expect(HELP).toContain(option);
});
