import { expect, test } from 'bun:test';
import { TurnBudget } from './turn-budget.ts';

/** Reads that take a millisecond each, by a clock that only they move. */
function budget() {
	const state = { now: 0, turn: 0 };
	const count = () => {
		state.turn += 1;
		ticking = setImmediate(count);
	};
	let ticking = setImmediate(count);
	const turns = new TurnBudget(() => state.now, 4);
	const read = (name: string, isLowPriority = false) =>
		turns.run(() => {
			state.now += 1;
			return { name, turn: state.turn };
		}, isLowPriority);
	return { read, stop: () => clearImmediate(ticking) };
}

test('many short reads are spread over turns of the event loop, in order', async () => {
	const { read, stop } = budget();
	const names = Array.from({ length: 41 }, (_, index) => `${index}`);
	const finished: string[] = [];
	const read41 = names.map(async (name) => {
		const { turn } = await read(name);
		finished.push(name);
		return turn;
	});
	const turns = await Promise.all(read41);
	stop();
	const inOneTurn = Map.groupBy(turns, (turn) => turn);
	expect(Math.max(...[...inOneTurn.values()].map(({ length }) => length))).toBeLessThanOrEqual(8);
	expect(inOneTurn.size).toBeGreaterThanOrEqual(5);
	expect(finished).toEqual(names);
});

test('a short read overtakes long jobs, which still make progress', async () => {
	const { read, stop } = budget();
	const finished: string[] = [];
	const note = ({ name }: { name: string }) => finished.push(name);
	const patient = Array.from({ length: 20 }, (_, index) => read(`patient ${index}`, true).then(note));
	const prompt = Array.from({ length: 12 }, (_, index) => read(`prompt ${index}`).then(note));
	await Promise.all(prompt);
	const overtaken = finished.filter((name) => name.startsWith('patient'));
	await Promise.all(patient);
	stop();
	// Four were there first; then every fourth.
	expect(overtaken.length).toBeGreaterThanOrEqual(5);
	expect(overtaken.length).toBeLessThanOrEqual(9);
	expect(finished).toHaveLength(32);
});

test('a failed read does not affect the others', async () => {
	const { read, stop } = budget();
	const turns = new TurnBudget(() => 0, 1);
	expect(await turns.run(() => Promise.resolve('fine')).catch(() => 'failed')).toBe('fine');
	const failing = turns.run(() => {
		throw new Error('no such table');
	});
	expect(failing).rejects.toThrow('no such table');
	expect(await turns.run(() => 'next')).toBe('next');
	await read('last');
	stop();
});
