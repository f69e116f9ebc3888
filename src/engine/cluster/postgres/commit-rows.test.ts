import { expect, test } from 'bun:test';
import { CommitRows } from './commit-rows.ts';

test('transactions that run at once have different rows, and no two transactions have the same token', () => {
	const rows = new CommitRows('store');
	const running = Array.from({ length: 40 }, () => rows.take());
	expect(new Set(running.map(({ key }) => key)).size).toBe(40);
	for (const row of running) rows.release(row);
	const later = Array.from({ length: 40 }, () => rows.take());
	expect(new Set(later.map(({ key }) => key)).size).toBe(40);
	expect(new Set([...running, ...later].map(({ token }) => token)).size).toBe(80);
});

test('rows take turns, and are used again', () => {
	const rows = new CommitRows('store');
	const used = Array.from({ length: 100 }, () => {
		const row = rows.take();
		rows.release(row);
		return row.key;
	});
	expect(new Set(used).size).toBe(16);
	expect(new Set(used.slice(0, 16)).size).toBe(16);
});
