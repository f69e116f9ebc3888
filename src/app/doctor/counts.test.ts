import { expect, test } from 'bun:test';
import { countsFindings } from './counts.ts';

const answering =
	(checked: number, total: number) =>
	async <T>(): Promise<T> =>
		({ checked, total, drifted: [], response_metadata: { next_cursor: '' } }) as T;

const found = async (checked: number, total: number) =>
	(await countsFindings(answering(checked, total), { user: 'U01', channel: 'C01', repair: false }))[0];

test('counts that could not be compared are reported as such, not as right and not as missing', async () => {
	expect((await found(1, 1))?.found).toBe('1 of 1 match the store');
	expect((await found(1, 3))?.found).toContain('2 more were archived, changing or not in the store yet');
	expect(await found(0, 2)).toMatchObject({
		state: 'warn',
		found: expect.stringContaining('not in the store'),
	});
	expect(await found(0, 0)).toMatchObject({
		state: 'warn',
		found: expect.stringContaining('there is no such member'),
	});
});
