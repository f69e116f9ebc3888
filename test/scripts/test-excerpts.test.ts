import { expect, test } from 'bun:test';
import { failureExcerpts } from '../../scripts/testing/excerpts.ts';

test('the excerpt of a failed test has its own output and none of its neighbours’', () => {
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

test('the excerpt of a long failure has its last lines', () => {
	const output = [...Array.from({ length: 100 }, (_, index) => `line ${index}`), '(fail) long'].join('\n');
	const lines = failureExcerpts(output)[0]?.split('\n') ?? [];
	expect(lines).toHaveLength(41);
	expect(lines[0]).toBe('line 60');
});
