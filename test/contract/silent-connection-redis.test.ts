import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { connectBoth, LAYOUTS, type Layout, redisPlace } from '../support/redis.ts';
import { announcePort } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** A subscriber's connection that stays open but delivers nothing is detected and replaced. */

let services: OwnServices;
beforeAll(async () => {
	services = await ownServices(...LAYOUTS);
}, 300_000);
afterAll(() => services?.down(), 60_000);

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

async function until(what: () => boolean, withinMs = 30_000): Promise<void> {
	for (const end = performance.now() + withinMs; !what(); ) {
		if (performance.now() > end) throw new Error(`timed out after ${withinMs} ms: ${what}`);
		await Bun.sleep(10);
	}
}

/** One node is reached through the proxy. */
async function behindProxy(layout: Layout): Promise<{ url: string; proxy: CuttingProxy }> {
	const { url } = redisPlace(layout, services.env);
	const proxy = await cuttingProxy('127.0.0.1', Number(new URL(url).port));
	closing.push(() => proxy.stop());
	const through = `redis://127.0.0.1:${proxy.port}`;
	if (layout === 'redis') return { url: through, proxy };
	await announcePort(url, proxy.port);
	return { url: through, proxy };
}

for (const layout of LAYOUTS)
	test(`a silent connection of a subscriber is detected and replaced on ${layout}`, async () => {
		const { url, proxy } = await behindProxy(layout);
		const place = { ...redisPlace(layout, services.env), url };
		const { commands, subscriber, close } = await connectBoth(place);
		let [gaps, receivings] = [0, 0];
		const bus = new RedisBus(commands, subscriber, new Keys(place.prefix), {
			onGap: () => {
				gaps += 1;
			},
			onReceiving: () => {
				receivings += 1;
			},
			onError: () => undefined,
		});
		closing.push(() => {
			bus.close();
			close();
		});
		// Every node of a cluster has some of these topics.
		const topics = Array.from({ length: 50 }, (_, index) => `live:C${index}` as const);
		const received = new Set<string>();
		for (const topic of topics) bus.subscribe(topic, () => received.add(topic));
		await bus.ready();
		// Longer than the detection takes: connections that deliver are not replaced.
		await Bun.sleep(5_000);
		expect(gaps).toBe(0);

		expect(proxy.silence('ssubscribe')).toBeGreaterThan(0);
		await until(() => gaps > 0);
		await until(() => receivings > 0);
		for (const topic of topics) bus.publish(topic, { type: 'event', frame: 'x' });
		await until(() => received.size === topics.length);
	}, 60_000);
