import { expect, test } from 'bun:test';
import { KeyedQueue } from './keyed-queue.ts';

/** Records the order in which work starts and ends. */

function scene() {
	const queue = new KeyedQueue();
	const order: string[] = [];
	const ends = new Map<string, () => void>();
	const work = (name: string) => () => {
		order.push(`${name} begins`);
		return new Promise<string>((resolve, reject) => {
			ends.set(name, () => {
				order.push(`${name} ends`);
				if (name.startsWith('bad')) reject(new Error(name));
				else resolve(name);
			});
		});
	};
	const end = async (name: string): Promise<void> => {
		ends.get(name)?.();
		await Bun.sleep(0);
	};
	return { queue, order, work, end };
}

test('work of one key runs one after the other, also after a failure', async () => {
	const { queue, order, work, end } = scene();
	const bad = queue.run('C', work('bad'));
	bad.catch(() => undefined);
	const all = [queue.run('C', work('one')), queue.run('C', work('two'))];
	await Bun.sleep(0);
	expect(order).toEqual(['bad begins']);
	await end('bad');
	expect(order.slice(1)).toEqual(['bad ends', 'one begins']);
	await end('one');
	await end('two');
	expect(await Promise.all(all)).toEqual(['one', 'two']);
	expect(order.slice(3)).toEqual(['one ends', 'two begins', 'two ends']);
});

test('work of other keys waits for nothing', async () => {
	const { queue, order, work, end } = scene();
	queue.run('C', work('one'));
	queue.run('D', work('two'));
	await Bun.sleep(0);
	expect(order).toEqual(['one begins', 'two begins']);
	await end('one');
	await end('two');
});
