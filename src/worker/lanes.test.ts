import { expect, test } from 'bun:test';
import { Lanes } from './lanes.ts';

test('work of one key keeps its order, and waits for no other key', async () => {
	const done: string[] = [];
	const loading = Promise.withResolvers<void>();
	const lanes = new Lanes<string>(async (item) => {
		if (item === 'cold 1') await loading.promise;
		done.push(item);
	});
	lanes.add('cold', 'cold 1');
	lanes.add('cold', 'cold 2');
	lanes.add('warm', 'warm 1');
	await Bun.sleep(0);
	lanes.add('warm', 'warm 2');
	lanes.add('cold', 'cold 3');
	await Bun.sleep(0);
	expect(done).toEqual(['warm 1', 'warm 2']);
	loading.resolve();
	await Bun.sleep(0);
	lanes.add('cold', 'cold 4');
	await Bun.sleep(0);
	expect(done.slice(2)).toEqual(['cold 1', 'cold 2', 'cold 3', 'cold 4']);
});
