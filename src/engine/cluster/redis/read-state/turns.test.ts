import { expect, test } from 'bun:test';
import { Turns } from './turns.ts';

/** Which turns wait for which. */

function scene() {
	const turns = new Turns();
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
	return { turns, order, work, end };
}

test('taken turns are alone and in order, also after a failure; shared ones overlap', async () => {
	const { turns, order, work, end } = scene();
	const bad = turns.take('C', work('bad'));
	bad.catch(() => undefined);
	const all = [turns.take('C', work('one')), turns.share('C', work('two')), turns.share('C', work('three'))];
	all.push(turns.take('C', work('four')), turns.share('C', work('five')));
	await Bun.sleep(0);
	expect(order).toEqual(['bad begins']);
	await end('bad');
	await end('one');
	expect(order.slice(1)).toEqual(['bad ends', 'one begins', 'one ends', 'two begins', 'three begins']);
	await end('three');
	expect(order.at(-1)).toBe('three ends');
	await end('two');
	expect(order.at(-1)).toBe('four begins');
	await end('four');
	await end('five');
	expect(await Promise.all(all)).toEqual(['one', 'two', 'three', 'four', 'five']);
	expect(order.slice(-3)).toEqual(['four ends', 'five begins', 'five ends']);
});

test('turns of other keys wait for nothing', async () => {
	const { turns, order, work, end } = scene();
	turns.take('C', work('one'));
	turns.take('D', work('two'));
	await Bun.sleep(0);
	expect(order).toEqual(['one begins', 'two begins']);
	await end('one');
	await end('two');
});
