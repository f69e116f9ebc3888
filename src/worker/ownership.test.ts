import { expect, test } from 'bun:test';
import { MemoryBus } from '../engine/embedded/memory-bus.ts';
import { type Bus, EVERY_GATEWAY, type Topic } from '../engine/ports/bus.ts';
import type { PublicationRecord } from '../engine/ports/publication-record.ts';
import { Ownership } from './ownership.ts';

const owning = (publications: Partial<PublicationRecord>, bus: Bus = new MemoryBus()) => {
	let overtaken = 0;
	const ownership = new Ownership({
		partition: 'p/1',
		publications: {
			claim: async () => ({ generation: 1, published: 0, reloaded: 0 }),
			published: async () => true,
			reloading: async () => undefined,
			invalidatePositions: async () => undefined,
			...publications,
		},
		bus,
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
		const bus = new MemoryBus();
		bus.subscribe(EVERY_GATEWAY, ({ type }) => seen.push(type));
		const { ownership } = owning(
			{
				claim: async () => ({ generation: 1, published, reloaded }),
				invalidatePositions: async (isInReadState) =>
					void seen.push(isInReadState ? 'in the read state' : 'not in the read state'),
			},
			bus,
		);
		await ownership.claim(7);
		expect(seen).toEqual(announced.flatMap((state) => [state, 'missed']));
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

/** A bus that confirms publications to one topic only when the test says so. */
class SlowBus extends MemoryBus {
	readonly confirmed = Promise.withResolvers<boolean>();

	constructor(private readonly slow: Topic) {
		super();
	}

	override publishAs(...[publisher, topic, message]: Parameters<Bus['publishAs']>): Promise<boolean> {
		return topic === this.slow ? this.confirmed.promise : super.publishAs(publisher, topic, message);
	}
}

for (const { topic, published } of [
	{ topic: 'live:C1', published: 7 },
	{ topic: EVERY_GATEWAY, published: 0 },
] as const)
	test(`progress is recorded only after publications to ${topic} are confirmed, and a release does not wait for them`, async () => {
		const recorded: number[] = [];
		const bus = new SlowBus(topic);
		const { ownership } = owning(
			{
				claim: async () => ({ generation: 1, published, reloaded: 0 }),
				published: async (_partition, _generation, offset) => recorded.push(offset) > 0,
			},
			bus,
		);
		await ownership.claim(7);
		ownership.publish('live:C1', { type: 'event', frame: '' });
		await ownership.beforePersist(8);
		ownership.end();
		await ownership.idle();
		expect(recorded).not.toContain(8);
		bus.confirmed.resolve(true);
		while (!recorded.includes(8)) await Bun.sleep(1);
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
	while (recorded.length === 0) await Bun.sleep(1);
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
