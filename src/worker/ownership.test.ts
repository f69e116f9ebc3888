import { expect, test } from 'bun:test';
import type { PublicationRecord } from '../engine/ports/publication-record.ts';
import { Ownership } from './ownership.ts';

const owning = (publications: Partial<PublicationRecord>) => {
	let overtaken = 0;
	const ownership = new Ownership({
		partition: 'p/1',
		publications: {
			claim: async () => ({ generation: 1, published: 0, reloaded: 0 }),
			published: async () => true,
			reloading: async () => undefined,
			announceMissed: async () => undefined,
			...publications,
		},
		bus: undefined as never,
		onOvertaken: () => {
			overtaken += 1;
		},
		sleep: (ms) => Bun.sleep(Math.min(ms, 5)),
		report: () => undefined,
	});
	return { ownership, overtaken: () => overtaken };
};

test('an owner whose progress is rejected is overtaken, and reports it once', async () => {
	const { ownership, overtaken } = owning({ published: async () => false });
	await ownership.claim(0);
	await ownership.beforePersist(1);
	await ownership.beforePersist(2);
	await ownership.idle();
	expect(overtaken()).toBe(1);
});

test('an owner whose progress is accepted is not overtaken', async () => {
	const { ownership, overtaken } = owning({});
	await ownership.claim(0);
	await ownership.beforePersist(1);
	await ownership.idle();
	expect(overtaken()).toBe(0);
});

for (const { published, reloaded, announced } of [
	{ published: 7, reloaded: 0, announced: [] },
	{ published: 6, reloaded: 0, announced: ['not in the read state'] },
	{ published: null, reloaded: 6, announced: ['not in the read state'] },
	{ published: null, reloaded: 7, announced: ['in the read state'] },
])
	test(`a claim at offset 7, published below ${published}, reloaded below ${reloaded}, announces: ${announced.join() || 'nothing'}`, async () => {
		const seen: string[] = [];
		const { ownership } = owning({
			claim: async () => ({ generation: 1, published, reloaded }),
			announceMissed: async (isInReadState) =>
				void seen.push(isInReadState ? 'in the read state' : 'not in the read state'),
		});
		await ownership.claim(7);
		expect(seen).toEqual(announced);
	});

test('a partition that is being released is not claimed again', async () => {
	let claims = 0;
	const failed = Promise.withResolvers<never>();
	const { ownership } = owning({
		claim: () => {
			claims += 1;
			return failed.promise;
		},
	});
	const claimed = ownership.claim(0).catch((error: unknown) => error);
	ownership.end();
	failed.reject(new Error('Redis is down'));
	expect(await claimed).toBeInstanceOf(Error);
	expect(claims).toBe(1);
});

test('recording the progress is retried, even if nothing more is persisted', async () => {
	const recorded: number[] = [];
	let failures = 3;
	const { ownership } = owning({
		published: async (_partition, _generation, offset) => {
			failures -= 1;
			if (failures >= 0) throw new Error('Redis is down');
			recorded.push(offset);
			return true;
		},
	});
	await ownership.claim(0);
	await ownership.beforePersist(7);
	await ownership.idle();
	expect(recorded).toEqual([7]);
});

test('releasing a partition does not wait until its progress is recorded', async () => {
	const { ownership } = owning({ published: () => Promise.reject(new Error('Redis is down')) });
	await ownership.claim(0);
	await ownership.beforePersist(7);
	ownership.end();
	await ownership.idle();
	expect(true).toBe(true);
});
