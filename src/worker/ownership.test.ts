import { expect, test } from 'bun:test';
import type { DeliveryRecord } from '../engine/ports/delivery-record.ts';
import { Ownership } from './ownership.ts';

const owning = (deliveries: Partial<DeliveryRecord>) => {
	let overtaken = 0;
	const ownership = new Ownership({
		partition: 'p/1',
		deliveries: {
			claim: async () => ({ generation: 1, delivered: 0, reloaded: 0 }),
			delivered: async () => true,
			reloading: async () => undefined,
			announceMissed: async () => undefined,
			...deliveries,
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
	const { ownership, overtaken } = owning({ delivered: async () => false });
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

for (const { delivered, reloaded, announced } of [
	{ delivered: 7, reloaded: 0, announced: [] },
	{ delivered: 6, reloaded: 0, announced: ['not in the read state'] },
	{ delivered: null, reloaded: 6, announced: ['not in the read state'] },
	{ delivered: null, reloaded: 7, announced: ['in the read state'] },
])
	test(`a claim at offset 7, published below ${delivered}, reloaded below ${reloaded}, announces: ${announced.join() || 'nothing'}`, async () => {
		const seen: string[] = [];
		const { ownership } = owning({
			claim: async () => ({ generation: 1, delivered, reloaded }),
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
		delivered: async (_partition, _generation, offset) => {
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
	const { ownership } = owning({ delivered: () => Promise.reject(new Error('Redis is down')) });
	await ownership.claim(0);
	await ownership.beforePersist(7);
	ownership.end();
	await ownership.idle();
	expect(true).toBe(true);
});
