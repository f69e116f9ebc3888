import { expect, test } from 'bun:test';
import { ClusterTime, type Reading } from './cluster-time.ts';

/** Processes whose clocks differ, and the corrected time that they stamp with. */

const NOW = 1_700_000_000_000_000;
const SECOND = 1_000_000;

/** A process whose clock is ahead of Redis by this many seconds. */
function processAhead(seconds: number) {
	const state = { ahead: seconds * SECOND, nodes: [0], tookSeconds: 0, answers: true, elapsed: 0 };
	const corrections: number[] = [];
	const wallMicros = (): number => NOW + state.elapsed + state.ahead;
	const time = new ClusterTime({
		read: async () =>
			state.answers
				? state.nodes.map((node): Reading => {
						const errorMicros = (state.tookSeconds * SECOND) / 2;
						const micros = NOW + state.elapsed + node * SECOND;
						return { micros, wallMicros: wallMicros(), errorMicros };
					})
				: [],
		wallMicros,
		elapsedMicros: () => 5 * SECOND + state.elapsed,
		onCorrected: (micros) => void corrections.push(micros),
	});
	return { state, corrections, time, offBy: () => (time.nowMicros() - NOW - state.elapsed) / SECOND };
}

test('a correct clock is not corrected', async () => {
	const { time, corrections, offBy } = processAhead(0.9);
	await time.measure();
	expect([offBy(), corrections]).toEqual([0.9, []]);
});

for (const ahead of [30, -90])
	test(`a clock that is ${ahead} s ahead is corrected, until the machine’s clock is right`, async () => {
		const { state, time, corrections, offBy } = processAhead(ahead);
		await time.measure();
		expect([offBy(), corrections]).toEqual([0, [-ahead * SECOND]]);
		// Small differences do not move it.
		state.ahead += 0.5 * SECOND;
		await time.measure();
		expect(corrections).toHaveLength(1);
		state.ahead = 0.2 * SECOND;
		await time.measure();
		expect([offBy(), corrections]).toEqual([0.2, [-ahead * SECOND, 0]]);
	});

test('a slow answer is less precise: only the difference that it proves is corrected', async () => {
	const { state, time, corrections } = processAhead(4);
	state.tookSeconds = 8;
	await time.measure();
	expect(corrections).toEqual([]);
	state.tookSeconds = 4;
	await time.measure();
	expect(corrections).toEqual([-4 * SECOND]);
});

test('one wrong clock among three nodes is ignored; without an answer, the correction stays', async () => {
	const { state, time, corrections, offBy } = processAhead(30);
	state.nodes = [0, 3600, 0];
	await time.measure();
	expect([offBy(), corrections]).toEqual([0, [-30 * SECOND]]);
	state.answers = false;
	await time.measure();
	expect(corrections).toHaveLength(1);
});

test('a step of the machine’s clock has no effect, neither before the next comparison nor after it', async () => {
	const { state, time, offBy } = processAhead(0);
	await time.measure();
	for (const step of [60, -120]) {
		state.ahead += step * SECOND;
		state.elapsed += SECOND;
		expect(offBy()).toBe(0);
		await time.measure();
		expect(offBy()).toBe(0);
	}
});
