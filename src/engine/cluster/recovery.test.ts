import { expect, test } from 'bun:test';
import { Recovery, type RecoveryParts } from './recovery.ts';

/** A worker starts while a service does not answer. */

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
		worker: { resume: () => void steps.push('resumed') },
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
