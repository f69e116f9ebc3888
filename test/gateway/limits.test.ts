import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../src/app/config.ts';
import { ratesOf } from '../../src/app/gateway.ts';
import { Limits, type Rates } from '../../src/gateway/limits.ts';
import { HandClock } from './support.ts';

const RATES: Rates = {
	requests: { perSecond: 10, burst: 20 },
	posts: { perSecond: 0, burst: 0 },
	connects: { perSecond: 1, burst: 2, jitterSeconds: 5 },
};

const setUp = (random = () => 0) => {
	const clock = new HandClock();
	return { clock, limits: new Limits(RATES, clock.now, random) };
};

const takeMany = (limits: Limits, user: string, times: number): number => {
	let allowed = 0;
	for (let index = 0; index < times; index += 1) if (limits.take(user, 'requests') === 0) allowed += 1;
	return allowed;
};

describe('limits', () => {
	test('allow a burst, then the rate', () => {
		const { clock, limits } = setUp();
		expect(takeMany(limits, 'U1', 100)).toBe(20);
		clock.pass(1000);
		expect(takeMany(limits, 'U1', 100)).toBe(10);
		clock.pass(60_000);
		expect(takeMany(limits, 'U1', 100)).toBe(20);
	});

	test('hold over a long time, whenever buckets are evicted', () => {
		const { clock, limits } = setUp();
		let allowed = 0;
		for (let step = 0; step < 1000; step += 1) {
			allowed += takeMany(limits, 'U1', 5);
			clock.pass(100);
		}
		expect(allowed).toBeGreaterThanOrEqual(1000);
		expect(allowed).toBeLessThanOrEqual(1020);
	});

	test('are separate for each user', () => {
		const { limits } = setUp();
		takeMany(limits, 'U1', 100);
		expect(takeMany(limits, 'U2', 100)).toBe(20);
	});

	test('say how long to wait, in whole seconds', () => {
		const { clock, limits } = setUp();
		takeMany(limits, 'U1', 20);
		expect(limits.take('U1', 'requests')).toBe(1);
		clock.pass(100);
		expect(limits.take('U1', 'requests')).toBe(0);
	});

	test('a call that costs more than the burst needs a full bucket, and empties it', () => {
		const { clock, limits } = setUp();
		expect(limits.take('U1', 'requests')).toBe(0);
		expect(limits.takeMore('U1', 'requests', 1_000)).toBe(0);
		expect(limits.take('U1', 'requests')).toBe(1);
		clock.pass(2_000);
		expect(limits.take('U1', 'requests')).toBe(0);
		expect(limits.takeMore('U1', 'requests', 1_000)).toBe(0);
	});

	test('of 0 are disabled', () => {
		const { limits } = setUp();
		for (let index = 0; index < 10_000; index += 1) expect(limits.take('U1', 'posts')).toBe(0);
		expect(limits.size).toBe(0);
	});

	test('spread the clients that reconnect', () => {
		const waits = new Set<number>();
		for (const share of [0, 0.2, 0.4, 0.6, 0.8, 0.999]) {
			const { limits } = setUp(() => share);
			limits.take('U1', 'connects');
			limits.take('U1', 'connects');
			waits.add(limits.take('U1', 'connects'));
		}
		expect([...waits]).toEqual([1, 2, 3, 4, 5, 6]);
	});

	test('forget idle users', () => {
		const { clock, limits } = setUp();
		for (let index = 0; index < 10_000; index += 1) limits.take(`U${index}`, 'requests');
		expect(limits.size).toBe(10_000);
		clock.pass(5000);
		limits.take('U1', 'requests');
		clock.pass(5000);
		limits.take('U1', 'requests');
		expect(limits.size).toBeLessThanOrEqual(2);
	});

	test('a clock that jumps back blocks nobody for long', () => {
		const { clock, limits } = setUp();
		takeMany(limits, 'U1', 5);
		clock.pass(-10_000);
		takeMany(limits, 'U1', 5);
		clock.pass(12_000);
		expect(takeMany(limits, 'U1', 100)).toBe(20);
	});

	test('have the documented defaults', () => {
		expect(ratesOf(readConfig({}, {}))).toEqual({
			requests: { perSecond: 1000, burst: 5000 },
			posts: { perSecond: 500, burst: 2000 },
			connects: { perSecond: 10, burst: 60, jitterSeconds: 5 },
		});
	});
});

test('a call that costs more takes more; one that costs more than a burst takes all of it', () => {
	const { clock, limits } = setUp();
	expect(limits.take('U1', 'requests', 15)).toBe(0);
	expect(limits.take('U1', 'requests', 15)).toBe(1);
	expect(takeMany(limits, 'U1', 100)).toBe(5);
	clock.pass(60_000);
	expect(limits.take('U1', 'requests', 1_000)).toBe(0);
	expect(limits.take('U1', 'requests')).toBe(1);
});

test('a call that turns out to cost more delays later calls, but never longer than a bucket takes to fill', () => {
	const { clock, limits } = setUp();
	expect(limits.take('U1', 'requests')).toBe(0);
	limits.charge('U1', 'requests', 24);
	// Five below zero, and one for the call itself.
	expect(limits.take('U1', 'requests')).toBe(1);
	clock.pass(600);
	expect(limits.take('U1', 'requests')).toBe(0);
	limits.charge('U1', 'requests', 1_000_000);
	expect(limits.take('U1', 'requests')).toBe(3);
	expect(limits.take('U2', 'requests')).toBe(0);
	clock.pass(2_100);
	expect(limits.take('U1', 'requests')).toBe(0);
	// A disabled limit stays disabled.
	limits.charge('U1', 'posts', 1_000);
	expect(limits.take('U1', 'posts')).toBe(0);
});

test('a bucket below zero is not forgotten before it is full', () => {
	const { clock, limits } = setUp();
	limits.take('U2', 'requests');
	clock.pass(1_900);
	limits.take('U1', 'requests');
	limits.charge('U1', 'requests', 1_000_000);
	for (const ms of [100, 2_000, 100]) {
		clock.pass(ms);
		limits.take('U2', 'requests');
	}
	// After 2.2 s of the 4 s that it takes to fill, the bucket has 2 tokens.
	expect(takeMany(limits, 'U1', 100)).toBe(2);
});
