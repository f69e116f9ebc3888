import { expect, test } from 'bun:test';
import { HOLD_MICROS, steadyTime, TOLERATED_MICROS } from '../../src/model/steady-time.ts';

/** A machine whose wall clock can be set while time passes. */
function machine() {
	let wall = 1_000_000_000_000_000;
	let elapsed = 5_000;
	return {
		time: steadyTime(
			() => wall,
			() => elapsed,
		),
		pass(micros: number): void {
			wall += micros;
			elapsed += micros;
		},
		set(micros: number): void {
			wall += micros;
		},
		wall: () => wall,
	};
}

const DAY = 86_400_000_000;

test('follows small corrections and steps back at once', () => {
	const { time, pass, set, wall } = machine();
	for (const step of [0, TOLERATED_MICROS, -500_000, -DAY, TOLERATED_MICROS]) {
		pass(1_000_000);
		set(step);
		expect([time.nowMicros(), time.heldMicros()]).toEqual([wall(), 0]);
	}
});

test('continues at its own pace after a step forward, and reports how far it is behind', () => {
	const { time, pass, set, wall } = machine();
	const before = time.nowMicros();
	set(DAY);
	pass(7_000_000);
	expect([time.nowMicros(), time.heldMicros()]).toEqual([before + 7_000_000, DAY]);
	set(-DAY);
	pass(1_000_000);
	expect([time.nowMicros(), time.heldMicros()]).toEqual([wall(), 0]);
});

test('follows a step forward that lasts', () => {
	const { time, pass, set, wall } = machine();
	set(DAY);
	const held = time.nowMicros();
	pass(HOLD_MICROS - 1);
	expect(time.nowMicros()).toBe(held + HOLD_MICROS - 1);
	pass(1);
	expect([time.nowMicros(), time.heldMicros()]).toEqual([wall(), 0]);
});

test('a step that was corrected does not shorten the hold of the next step', () => {
	const { time, pass, set } = machine();
	set(DAY);
	time.nowMicros();
	pass(HOLD_MICROS - 1);
	set(-DAY);
	time.nowMicros();
	set(DAY);
	const held = time.nowMicros();
	pass(2);
	expect(time.nowMicros()).toBe(held + 2);
});
