import { expect, test } from 'bun:test';
import { Rejection } from './errors.ts';
import { PeriodicJob } from './periodic-job.ts';

test('a run that fails is reported, unless a service is unavailable, and repeated', async () => {
	const errors = [new Rejection('service_unavailable'), new Error('broken')];
	const reported: unknown[] = [];
	const succeeded = Promise.withResolvers<void>();
	const job = new PeriodicJob(
		1,
		async () => {
			const error = errors.shift();
			if (error) throw error;
			succeeded.resolve();
		},
		(error) => reported.push(error),
	);
	await succeeded.promise;
	await job.stop();
	expect(reported).toEqual([new Error('broken')]);
});

test('runs never overlap, and stopping waits for the running one', async () => {
	const begun = Promise.withResolvers<void>();
	const gate = Promise.withResolvers<void>();
	let runs = 0;
	const job = new PeriodicJob(
		1,
		async () => {
			runs += 1;
			begun.resolve();
			await gate.promise;
		},
		() => undefined,
	);
	await begun.promise;
	// Further intervals pass.
	for (let interval = 0; interval < 5; interval += 1) await Bun.sleep(1);
	let isStopped = false;
	const stopped = job.stop().then(() => {
		isStopped = true;
	});
	await Bun.sleep(0);
	expect([runs, isStopped]).toEqual([1, false]);
	gate.resolve();
	await stopped;
});
