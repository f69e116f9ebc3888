import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisTickets } from '../../src/engine/cluster/redis/tickets.ts';
import { resetForGap } from '../../src/gateway/bus-gaps.ts';
import type { Hub } from '../../src/gateway/socket/hub.ts';
import { eventually } from '../support/eventually.ts';
import { connectBoth, cutSubscribers, LAYOUTS, redisPlace } from '../support/redis.ts';
import { type OwnServices, ownServices } from '../support/services.ts';
import { TestSocket } from '../support/socket.ts';
import { listeningGateway } from './listening-gateway.ts';
import { admissionOf, random, userNamed } from './support.ts';

/** A gateway that missed publications: no client continues as if it had received everything. */

let services: OwnServices;
beforeAll(async () => {
	services = await ownServices(...LAYOUTS);
}, 300_000);
afterAll(() => services?.down(), 60_000);

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

for (const layout of LAYOUTS) {
	describe(`a gap on ${layout}`, () => {
		const scene = async () => {
			const place = redisPlace(layout, services.env);
			const { commands, subscriber, close } = await connectBoth(place);
			let hub: Hub | undefined;
			let forgotten = 0;
			const auth = {
				forgetAll: () => {
					forgotten += 1;
				},
			};
			let expired = 0;
			const requests = {
				expireWaiting: () => {
					expired += 1;
				},
			};
			const keys = new Keys(place.prefix);
			const bus: RedisBus = new RedisBus(commands, subscriber, keys, {
				onGap: () => hub && resetForGap({ bus, hub, auth, requests }),
				onError: () => undefined,
			});
			const tickets = new RedisTickets(commands, keys, random);
			const gateway = listeningGateway({ tickets, bus });
			hub = gateway.hub;
			closing.push(gateway.stop, () => {
				bus.close();
				close();
			});
			const open = async (name = 'U1'): Promise<TestSocket> => {
				const ticket = await tickets.issue(admissionOf(userNamed(name)));
				const socket = new TestSocket(`ws://127.0.0.1:${gateway.port}/rtm?ticket=${ticket}`);
				await Promise.race([socket.seen({ type: 'hello' }), socket.closed]);
				return socket;
			};
			const cut = () => cutSubscribers(commands);
			return { bus, open, cut, forgottenTokens: () => forgotten, shortened: () => expired };
		};

		test('a gap closes the sockets, and those that reconnect receive events', async () => {
			const { bus, open, cut, forgottenTokens, shortened } = await scene();
			const before = [await open(), await open()];
			await cut();
			for (const socket of before) {
				expect((await socket.closed).code).toBe(4000);
				expect(socket.frames.at(-1)).toEqual({ type: 'goodbye' });
			}
			expect(forgottenTokens()).toBeGreaterThan(0);
			// The time limit of requests that wait for an outcome is shortened, when the bus is subscribed again.
			await eventually(async () => expect(shortened()).toBeGreaterThan(0), 10_000);
			// The loss of nodes may be noticed one after the other: clients that connected in between are closed once more.
			for (let isReceiving = false; !isReceiving; ) {
				const after = await open();
				bus.publish('user:U1', { type: 'event', frame: '{"type":"heard"}', at: 1 });
				const received = after.seen({ type: 'heard' }).then(() => true);
				isReceiving = await Promise.race([received, after.closed.then(() => false)]);
			}
		});

		test('a lost publication makes only its subscribers reconnect', async () => {
			const { bus, open } = await scene();
			const [concerned, other] = [await open('U1'), await open('U2')];
			bus.publish('user:U1', { type: 'lost' });
			expect((await concerned.closed).code).toBe(4000);
			bus.publish('user:U2', { type: 'event', frame: '{"type":"heard"}', at: 1 });
			await other.seen({ type: 'heard' });
		});
	});
}
