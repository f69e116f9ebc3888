import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import { connectBoth, cutSubscribers, LAYOUTS, redisPlace } from '../support/redis.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** The bus on a single Redis and on a cluster: publications between two processes. */

let services: OwnServices;
beforeAll(async () => {
	services = await ownServices(...LAYOUTS);
}, 300_000);
afterAll(() => services?.down(), 60_000);

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

const event = (frame: string): BusMessage => ({ type: 'event', frame });

async function until(what: () => boolean, withinMs = 5_000): Promise<void> {
	for (const end = performance.now() + withinMs; !what(); ) {
		if (performance.now() > end) throw new Error(`timed out after ${withinMs} ms: ${what}`);
		await Bun.sleep(10);
	}
}

for (const layout of LAYOUTS) {
	describe(`bus on ${layout}`, () => {
		const open = async (place = redisPlace(layout, services.env)) => {
			const { commands, subscriber, close } = await connectBoth(place);
			const gaps: number[] = [];
			let receivings = 0;
			const hooks = {
				onGap: () => gaps.push(Date.now()),
				onReceiving: () => {
					receivings += 1;
				},
				onError: () => undefined,
			};
			const bus = new RedisBus(commands, subscriber, new Keys(place.prefix), hooks);
			closing.push(() => {
				bus.close();
				close();
			});
			return { bus, commands, subscriber, gaps, receivings: () => receivings, place };
		};

		test('publications of every kind of topic reach their subscribers in order, across processes', async () => {
			const here = await open();
			const there = await open(here.place);
			const topics = ['live:C01', 'live:C02', 'user:U01', 'team:T01', 'presence:U01', 'gateway:g1'] as const;
			const received = new Map<string, string[]>();
			for (const topic of topics)
				there.bus.subscribe(topic, (message) => {
					if (message.type === 'event') received.set(topic, [...(received.get(topic) ?? []), message.frame]);
				});
			await there.bus.flushed();
			const frames = Array.from({ length: 200 }, (_, index) => String(index));
			for (const frame of frames) for (const topic of topics) here.bus.publish(topic, event(frame));
			await until(() => topics.every((topic) => received.get(topic)?.length === frames.length));
			for (const topic of topics) expect(received.get(topic)).toEqual(frames);
		});

		test('a ready subscription receives publications of every process', async () => {
			const here = await open();
			const there = await open(here.place);
			const topics = Array.from({ length: 200 }, (_, index) => `live:C${index}` as const);
			const received = new Set<string>();
			for (const topic of topics) there.bus.subscribe(topic, () => received.add(topic));
			await there.bus.ready();
			for (const topic of topics) here.bus.publish(topic, event('x'));
			await until(() => received.size === topics.length);
		});

		test('a failed publication is reported on its topic, and on no other', async () => {
			const { bus, commands } = await open();
			const received: [string, BusMessage['type']][] = [];
			for (const topic of ['live:C01', 'live:C02'] as const)
				bus.subscribe(topic, ({ type }) => received.push([topic, type]));
			await bus.ready();
			const publish = commands.spublish.bind(commands);
			let failures = 0;
			commands.spublish = (() => {
				failures += 1;
				if (failures === 2) commands.spublish = publish;
				return Promise.reject(new Error('as if Redis did not answer'));
			}) as typeof publish;
			bus.publish('live:C01', event('x'));
			// Reporting the failure fails once as well.
			await until(() => failures === 2);
			bus.publish('live:C02', event('y'));
			await until(() => received.length === 2);
			expect(received).toEqual([
				['live:C02', 'event'],
				['live:C01', 'lost'],
			]);
		});

		test('a failed publication of an owner counts as published only after its topic got `lost`', async () => {
			const { bus, commands } = await open();
			const received: BusMessage['type'][] = [];
			bus.subscribe('live:C01', ({ type }) => received.push(type));
			await bus.ready();
			const failing = () => Promise.reject(new Error('as if Redis did not answer'));
			const publish = commands.spublish.bind(commands);
			let failures = 0;
			Object.assign(commands, { publishOwned: failing });
			commands.spublish = ((channel: string, text: string) => {
				if (!text.includes('lost')) return publish(channel, text);
				failures += 1;
				return failing();
			}) as typeof publish;
			let isPublished = false;
			const published = bus.publishAs({ partition: 'p/1', generation: 1 }, 'live:C01', event('x'));
			void published.then(() => {
				isPublished = true;
			});
			await until(() => failures === 2);
			expect(isPublished).toBeFalse();
			commands.spublish = publish;
			expect(await published).toBeTrue();
			await until(() => received.length > 0);
			expect(received).toEqual(['lost']);
		});

		test('a failed publication to a topic without subscribers does not count as dropped', async () => {
			const { bus, commands } = await open();
			const failing = () => Promise.reject(new Error('as if Redis did not answer'));
			Object.assign(commands, { publishOwned: failing });
			expect(await bus.publishAs({ partition: 'p/1', generation: 1 }, 'live:C02', event('x'))).toBeTrue();
		});

		test('a failed subscription is retried, and ready waits for it', async () => {
			const { bus, subscriber } = await open();
			const subscribe = subscriber.subscribe.bind(subscriber);
			let failures = 0;
			subscriber.subscribe = (() => {
				failures += 1;
				subscriber.subscribe = subscribe;
				return Promise.reject(new Error('as if Redis did not answer'));
			}) as typeof subscribe;
			const received: BusMessage[] = [];
			bus.subscribe('live:C01', (message) => received.push(message));
			await bus.ready();
			bus.publish('live:C01', event('x'));
			await until(() => received.length > 0);
			expect(failures).toBe(1);
		});

		test('a process receives its own publications right after it subscribes', async () => {
			const { bus } = await open();
			const received: BusMessage[] = [];
			bus.subscribe('gateway:one', (message) => received.push(message));
			bus.publish('gateway:one', event('first'));
			await bus.flushed();
			bus.publish('gateway:one', event('second'));
			await until(() => received.length === 2);
			expect(received).toEqual([event('first'), event('second')]);
		});

		test('an ended subscription receives nothing; other subscriptions of the topic continue', async () => {
			const { bus } = await open();
			const first: BusMessage[] = [];
			const second: BusMessage[] = [];
			const toFirst = (message: BusMessage) => first.push(message);
			const toSecond = (message: BusMessage) => second.push(message);
			bus.subscribe('live:C01', toFirst);
			bus.subscribe('live:C01', toSecond);
			bus.unsubscribe('live:C01', toFirst);
			bus.publish('live:C01', event('x'));
			await until(() => second.length === 1);
			bus.unsubscribe('live:C01', toSecond);
			await bus.flushed();
			bus.publish('live:C01', event('y'));
			await bus.flushed();
			await Bun.sleep(50);
			expect([first.length, second.length]).toEqual([0, 1]);
		});

		test('after its connections were cut, the bus reports the gap and subscribes again', async () => {
			const { bus, commands, gaps } = await open();
			const received: BusMessage[] = [];
			bus.subscribe('live:C01', (message) => received.push(message));
			await bus.flushed();
			await cutSubscribers(commands);
			await until(() => gaps.length > 0);
			await bus.ready();
			bus.publish('live:C01', event('after'));
			await until(() => received.length > 0);
			expect(received).toEqual([event('after')]);
		});

		test('the bus knows whether it is subscribed, while Redis is unavailable and afterwards', async () => {
			const { bus, receivings } = await open();
			expect(bus.isReceiving('gateway:one')).toBeFalse();
			bus.subscribe('gateway:one', () => undefined);
			await bus.ready();
			expect(bus.isReceiving('gateway:one')).toBeTrue();
			await services.stop(layout, 'crash');
			await until(() => !bus.isReceiving('gateway:one'));
			await services.start(layout);
			await until(() => bus.isReceiving('gateway:one'), 30_000);
			await bus.ready();
			expect(receivings()).toBeGreaterThan(0);
		}, 60_000);
	});
}

test('a probe detects a Redis that hangs', async () => {
	const place = redisPlace('redis', services.env);
	const { commands, subscriber, close } = await connectBoth(place);
	const bus = new RedisBus(commands, subscriber, new Keys(place.prefix), {
		onGap: () => undefined,
		onError: () => undefined,
	});
	closing.push(() => {
		bus.close();
		close();
	});
	bus.subscribe('gateway:one', () => undefined);
	await bus.ready();
	await services.pause('redis');
	try {
		await bus.probe();
		expect(bus.isReceiving('gateway:one')).toBeFalse();
	} finally {
		services.wake('redis');
	}
	await bus.probe();
	expect(bus.isReceiving('gateway:one')).toBeTrue();
}, 30_000);
