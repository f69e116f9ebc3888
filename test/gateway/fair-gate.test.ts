import { expect, test } from 'bun:test';
import { FairGate } from '../../src/gateway/fair-gate.ts';
import { nextTurn } from '../../src/model/next-turn.ts';

/** Work that reports its start, and ends when the test says so. */
function stage(gate: FairGate) {
	const begun: string[] = [];
	const ends = new Map<string, () => void>();
	const start = (key: string, name: string) =>
		gate.run(key, () => {
			begun.push(name);
			return new Promise<void>((resolve) => ends.set(name, resolve));
		});
	const end = async (name: string) => {
		ends.get(name)?.();
		for (let turn = 0; turn < 3; turn += 1) await nextTurn();
	};
	return { begun, start, end };
}

test('the gate admits a limited number at once, one per key, and keys take turns', async () => {
	const { begun, start, end } = stage(new FairGate(2));
	for (const name of ['a1', 'a2', 'a3']) void start('a', name);
	for (const name of ['b1', 'c1', 'd1']) void start(name[0] as string, name);
	await end('');
	expect(begun).toEqual(['a1', 'b1']);
	await end('b1');
	expect(begun).toEqual(['a1', 'b1', 'c1']);
	await end('a1');
	expect(begun.slice(3)).toEqual(['a2']);
	await end('c1');
	expect(begun.slice(4)).toEqual(['d1']);
	await end('d1');
	await end('a2');
	expect(begun.slice(5)).toEqual(['a3']);
});

test('failed work frees its slot', async () => {
	const gate = new FairGate(1);
	await expect(gate.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
	expect(await gate.run('a', async () => 1)).toBe(1);
});

test('other work gets a turn of the event loop between two tasks of a key', async () => {
	const gate = new FairGate(2);
	const order: string[] = [];
	const works = ['a1', 'a2', 'a3', 'a4'].map((name) => gate.run('a', async () => void order.push(name)));
	const other = (async () => {
		await nextTurn();
		await nextTurn();
		order.push('other');
	})();
	await Promise.all([...works, other]);
	expect(order.indexOf('other')).toBeLessThan(order.indexOf('a4'));
});
