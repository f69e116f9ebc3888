import { expect, test } from 'bun:test';
import { failureExcerpts } from '../../scripts/testing/excerpts.ts';

test('a failed test is repeated with what it printed, and nothing of its neighbours', () => {
	const output = [
		'(pass) first',
		'error: expected 1',
		'  at line 3',
		'(fail) second',
		'later',
		'(pass) third',
	];
	expect(failureExcerpts(output.join('\n'))).toEqual(['error: expected 1\n  at line 3\n(fail) second']);
});

test('of a long failure the last lines', () => {
	const output = [...Array.from({ length: 100 }, (_, index) => `line ${index}`), '(fail) long'].join('\n');
	const lines = failureExcerpts(output)[0]?.split('\n') ?? [];
	expect(lines).toHaveLength(41);
	expect(lines[0]).toBe('line 60');
});
