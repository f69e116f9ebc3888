import { expect, test } from 'bun:test';
import { Recovery, type RecoveryParts } from './recovery.ts';

/** A worker starts while a service does not answer, and PostgreSQL falls a day behind. */

test('a start continues when Redis answers, and reports the errors until then', async () => {
	const steps: string[] = [];
	const answers = [new Error('Redis does not answer'), new Error('Redis does not answer'), []];
	const recovery = new Recovery({
		epochs: {
			lost: async () => {
				const answer = answers.shift() ?? [];
				if (answer instanceof Error) throw answer;
				return answer;
			},
			tidy: async () => void steps.push('tidied'),
		},
		lock: { share: async () => void steps.push('shared'), close: async () => undefined },
		worker: { resume: () => void steps.push('resumed'), unwrittenMs: () => 0 },
		onTrouble: ({ message }: Error) => void steps.push(message),
		onComplete: () => void steps.push('complete'),
	} as unknown as RecoveryParts);
	await recovery.start();
	await recovery.stop();
	expect(steps).toEqual([
		'Redis does not answer',
		'Redis does not answer',
		'shared',
		'resumed',
		'complete',
		'tidied',
	]);
});

test('once PostgreSQL has changes that were a day late, and that Redis may have forgotten, Redis is rebuilt', async () => {
	const steps: string[] = [];
	const hours = [0, 22, 24, 25, 0];
	let lost: string[] = [];
	const rebuilt = Promise.withResolvers<void>();
	const recovery = new Recovery({
		epochs: {
			lost: async () => lost,
			endAll: async () => {
				steps.push(`ended, ${hours.length} more checks`);
				lost = ['a node'];
			},
			clear: async () => undefined,
			areAllNodes: () => false,
			begin: async () => {
				steps.push('rebuilt');
				lost = [];
				rebuilt.resolve();
			},
			tidy: async () => undefined,
		},
		lock: {
			share: async () => undefined,
			isLost: async () => false,
			release: async () => undefined,
			tryExclusive: async () => true,
			tryElect: async () => true,
			isElected: async () => true,
			close: async () => undefined,
		},
		worker: {
			halt: async () => void steps.push('halted'),
			resume: () => undefined,
			unwrittenMs: () => (hours.shift() ?? 0) * 3_600_000,
		},
		endOfMarks: async () => new Map(),
		nextOffsets: async () => new Map(),
		nowMicros: () => 0,
		log: () => undefined,
		onTrouble: ({ message }: Error) => void steps.push(message),
		onLost: () => undefined,
		onComplete: () => undefined,
	} as unknown as RecoveryParts);
	await recovery.start();
	await rebuilt.promise;
	await recovery.stop();
	expect(steps).toEqual(['ended, 0 more checks', 'halted', 'rebuilt']);
}, 30_000);
