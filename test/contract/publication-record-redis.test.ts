import { afterEach, describe, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisPublicationRecord } from '../../src/engine/cluster/redis/publication-record.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';

/** Which worker publishes for a partition: if several believe they own it, the one that claimed it last. */

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

const event = (frame: string): BusMessage => ({ type: 'event', frame });

for (const layout of LAYOUTS)
	describe(`owners of partitions on ${layout}`, () => {
		const open = async () => {
			const place = redisPlace(layout);
			const { commands, subscriber, close } = await connectBoth(place);
			const keys = new Keys(place.prefix);
			const hooks = { onGap: () => undefined, onError: () => undefined };
			const bus = new RedisBus(commands, subscriber, keys, hooks);
			closing.push(() => {
				bus.close();
				close();
			});
			const epochs = new Epochs(commands, place.prefix);
			return { bus, epochs, record: new RedisPublicationRecord(commands, keys, epochs, () => 0) };
		};

		test('publications of an earlier owner are dropped once a later owner has published', async () => {
			const { bus, record } = await open();
			const received: string[] = [];
			for (const topic of ['live:C1', 'user:U1'] as const)
				bus.subscribe(topic, (message) => {
					if (message.type === 'event') received.push(message.frame);
				});
			await bus.ready();
			const as = async (partition: string) => ({
				partition,
				generation: (await record.claim(partition, 0)).generation,
			});
			const [earlier, later, other] = [await as('p/1'), await as('p/1'), await as('p/2')];
			expect(later.generation).toBeGreaterThan(earlier.generation);

			expect(await bus.publishAs(earlier, 'live:C1', event('before'))).toBe(true);
			expect(await bus.publishAs(later, 'live:C1', event('edited'))).toBe(true);
			expect(await bus.publishAs(earlier, 'live:C1', event('late'))).toBe(false);
			expect(await bus.publishAs(later, 'live:C1', event('deleted'))).toBe(true);
			// The later owner has published nothing to this topic yet; other partitions have their own owners.
			expect(await bus.publishAs(earlier, 'user:U1', event('elsewhere'))).toBe(true);
			expect(await bus.publishAs(other, 'user:U1', event('of another'))).toBe(true);
			bus.publish('user:U1', event('end'));
			await bus.flushed();
			while (received.at(-1) !== 'end') await Bun.sleep(5);
			expect(received.toSorted()).toEqual(
				['before', 'edited', 'deleted', 'elsewhere', 'of another', 'end'].toSorted(),
			);
			expect(received.filter((frame) => ['before', 'edited', 'deleted'].includes(frame))).toEqual([
				'before',
				'edited',
				'deleted',
			]);
		});

		test('publications of one turn are sent together and in order, among other publications', async () => {
			const { bus, record } = await open();
			const received: string[] = [];
			bus.subscribe('live:C1', (message) => {
				if (message.type === 'event') received.push(message.frame);
			});
			await bus.ready();
			const owner = { partition: 'p/1', generation: (await record.claim('p/1', 0)).generation };
			const frames = Array.from({ length: 450 }, (_, index) => String(index));
			const published = frames.slice(0, 400).map((frame) => bus.publishAs(owner, 'live:C1', event(frame)));
			// One promise per script.
			expect(new Set(published).size).toBe(2);
			bus.publish('live:C1', event('typing'));
			for (const frame of frames.slice(400)) published.push(bus.publishAs(owner, 'live:C1', event(frame)));
			expect(new Set(await Promise.all(published))).toEqual(new Set([true]));
			await bus.flushed();
			while (received.length < frames.length + 1) await Bun.sleep(5);
			expect(received).toEqual([...frames.slice(0, 400), 'typing', ...frames.slice(400)]);
		});

		test('the publication record is what the last owner reports, and no report lowers it', async () => {
			const { record } = await open();
			const first = await record.claim('p/1', 0);
			expect(first.published).toBeNull();
			expect(await record.published('p/1', first.generation, 7)).toBe(true);
			await record.published('p/1', first.generation, 5);
			const second = await record.claim('p/1', 7);
			expect(second.published).toBe(7);
			expect(await record.published('p/1', first.generation, 99)).toBe(false);
			expect((await record.claim('p/1', 7)).published).toBe(7);
		});

		test('a claim returns the offset up to which all of the read state was reloaded', async () => {
			const { record } = await open();
			expect((await record.claim('p/1', 7)).reloaded).toBe(0);
			await record.reloading(
				new Map([
					['p/1', 5],
					['p/2', 6],
				]),
			);
			expect((await record.claim('p/1', 7)).reloaded).toBe(5);
			expect((await record.claim('p/2', 7)).reloaded).toBe(6);
		});

		test('a claim at an earlier offset lowers the record: the log may have been replaced', async () => {
			const { record } = await open();
			const { generation } = await record.claim('p/1', 0);
			await record.published('p/1', generation, 100_000);
			await record.reloading(new Map([['p/1', 100_000]]));
			await record.claim('p/1', 0);
			expect(await record.claim('p/1', 500)).toMatchObject({ published: 0, reloaded: 0 });
		});

		test('missed changes rebuild the read state only if it may lack them', async () => {
			const { record, epochs } = await open();
			await epochs.begin(() => 1);
			await record.invalidatePositions(true);
			expect(await epochs.lost()).toEqual([]);
			await record.invalidatePositions(false);
			expect((await epochs.lost()).length).toBeGreaterThan(0);
		});
	});
