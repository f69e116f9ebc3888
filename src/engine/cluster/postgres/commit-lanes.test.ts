import { expect, test } from 'bun:test';
import { CommitLanes } from './commit-lanes.ts';

test('transactions that run at once have different lanes, and no two transactions have the same token', () => {
	const lanes = new CommitLanes('store');
	const running = Array.from({ length: 40 }, () => lanes.take());
	expect(new Set(running.map(({ key }) => key)).size).toBe(40);
	for (const lane of running) lanes.release(lane);
	const later = Array.from({ length: 40 }, () => lanes.take());
	expect(new Set(later.map(({ key }) => key)).size).toBe(40);
	expect(new Set([...running, ...later].map(({ token }) => token)).size).toBe(80);
});

test('lanes take turns, and are used again', () => {
	const lanes = new CommitLanes('store');
	const used = Array.from({ length: 100 }, () => {
		const lane = lanes.take();
		lanes.release(lane);
		return lane.key;
	});
	expect(new Set(used).size).toBe(16);
	expect(new Set(used.slice(0, 16)).size).toBe(16);
});
