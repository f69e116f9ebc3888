import { describe, expect, test } from 'bun:test';
import { decodeCursor, encodeCursor, nextCursor } from '../../src/gateway/http/paging.ts';
import { pageWindow, wholeWindow } from '../../src/gateway/http/window.ts';

describe('cursors', () => {
	test('are base64 of the next key', () => {
		expect(Buffer.from(encodeCursor('next_ts', 1717200000123456), 'base64').toString()).toBe(
			'next_ts:1717200000123456',
		);
	});

	test('are accepted as they were returned, also without padding', () => {
		for (const value of ['1717200000123456', '1', '12', '123']) {
			const cursor = encodeCursor('next_ts', value);
			expect(decodeCursor('next_ts', cursor)).toBe(value);
			expect(decodeCursor('next_ts', cursor.replace(/=+$/, ''))).toBe(value);
		}
		expect(decodeCursor('after', encodeCursor('after', 'U123'))).toBe('U123');
	});

	test('of another method, or invented, are rejected', () => {
		const made = [
			'',
			'=',
			'x',
			encodeCursor('after', 'U1'),
			btoa('next_ts:'),
			btoa('next_ts:-1'),
			btoa('next_ts:1e3'),
		];
		for (const text of [...made, `${encodeCursor('next_ts', 1)}*`, 'A'.repeat(1000)])
			expect(decodeCursor('next_ts', text)).toBeUndefined();
	});

	test('are empty at the end of a list', () => {
		expect(nextCursor('after', null)).toEqual({ response_metadata: { next_cursor: '' } });
	});
});

describe('windows', () => {
	const all = { oldest: undefined, latest: undefined, inclusive: false, cursor: undefined };

	test('bounds are exclusive unless inclusive is set', () => {
		expect(wholeWindow({ ...all, oldest: 10, latest: 20 })).toEqual({ after: 10, before: 20 });
		expect(wholeWindow({ ...all, oldest: 10, latest: 20, inclusive: true })).toEqual({
			after: 9,
			before: 21,
		});
	});

	test('without bounds, the window is everything', () => {
		expect(wholeWindow({ ...all, inclusive: true })).toEqual({ after: 0, before: Number.MAX_SAFE_INTEGER });
	});

	test('a cursor continues where the page ended, never beyond the window', () => {
		const window = { ...all, oldest: 10, latest: 20 };
		expect(pageWindow({ ...window, cursor: '15' }, 'forward')).toEqual({ after: 15, before: 20 });
		expect(pageWindow({ ...window, cursor: '15' }, 'backward')).toEqual({ after: 10, before: 15 });
		expect(pageWindow({ ...window, cursor: '5' }, 'forward')).toEqual({ after: 10, before: 20 });
		expect(pageWindow({ ...window, cursor: '25' }, 'backward')).toEqual({ after: 10, before: 20 });
	});
});
