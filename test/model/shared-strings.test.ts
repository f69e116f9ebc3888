import { expect, test } from 'bun:test';
import { SharedStrings } from '../../src/model/shared-strings.ts';

test('returns an equal string, however many there are', () => {
	const strings = new SharedStrings();
	for (let index = 0; index < 5_000; index += 1) expect(strings.of(`text ${index}`)).toBe(`text ${index}`);
	expect(strings.of('text 0')).toBe('text 0');
});
