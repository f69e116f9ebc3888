import { expect, test } from 'bun:test';
import { readableLine } from './log-lines.ts';

test('an entry becomes a line with time, level, message and fields', () => {
	const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
	const line = readableLine(JSON.stringify({ level: 40, time, role: 'worker', msg: 'Redis is unreachable' }));
	expect(line).toBe('03:04:05 WARN  Redis is unreachable role=worker\n');
});

test('an error shows its stack below the line; text that is not JSON stays as it is', () => {
	const entry = {
		level: 50,
		time: 0,
		msg: 'failed',
		err: { message: 'no', stack: 'Error: no\n    at here' },
	};
	expect(readableLine(JSON.stringify(entry)).split('\n').slice(1)).toEqual([
		'      Error: no',
		'      at here',
		'',
	]);
	expect(readableLine('plain\n')).toBe('plain\n');
});
