import { afterEach, describe, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisPresence } from '../../src/engine/cluster/redis/presence.ts';
import { Connection } from '../../src/gateway/socket/connection.ts';
import { Presence } from '../../src/gateway/socket/presence.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';
import { readingSocket } from './support.ts';

/** Users of a gateway that died become away, in the read state and for users who watch their presence. */

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

for (const layout of LAYOUTS) {
	describe(`presence on ${layout}`, () => {
		const gateway = async (name: string, active: Map<string, boolean>, place = redisPlace(layout)) => {
			const { commands, subscriber, close } = await connectBoth(place);
			const keys = new Keys(place.prefix);
			const onError = console.error;
			const bus = new RedisBus(commands, subscriber, keys, { onGap: () => undefined, onError });
			const reads = {
				setActive: async (user: string, isActive: boolean) => {
					active.set(user, isActive);
				},
			};
			const store: RedisPresence = new RedisPresence(commands, keys, name, {
				onChanged: (user) => presence.refresh(user),
				onError,
			});
			const presence: Presence = new Presence(bus, store, reads);
			closing.push(() => {
				store.close();
				bus.close();
				close();
			});
			const socketOf = (user: string) => {
				const frames: string[] = [];
				const socket = readingSocket((frame) => frames.push(frame));
				const connection = new Connection(`${name}-${user}`, user, 'T1', 'h', false, socket, (one) =>
					one.flush(),
				);
				connection.release(0);
				const presences = () => frames.map((frame) => JSON.parse(frame).presence as string);
				return { connection, presences };
			};
			const die = async () => {
				store.close();
				await commands.del(keys.gatewayAlive(name));
			};
			return { presence, store, socketOf, die, place };
		};

		test('a user whose last socket was at the dead gateway becomes away; a user with another socket stays active', async () => {
			const active = new Map<string, boolean>();
			const dying = await gateway('g1', active);
			const living = await gateway('g2', active, dying.place);
			await dying.presence.connected(dying.socketOf('U1').connection);
			await dying.presence.connected(dying.socketOf('U2').connection);
			await living.presence.connected(living.socketOf('U2').connection);
			const watcher = living.socketOf('U3');
			await living.presence.watch(watcher.connection, ['U1']);
			expect(watcher.presences()).toEqual(['active']);
			await dying.die();
			await living.store.sweep();
			for (let tries = 0; watcher.presences().length < 2 && tries < 500; tries += 1) await Bun.sleep(10);
			expect(watcher.presences()).toEqual(['active', 'away']);
			expect([active.get('U1'), active.get('U2')]).toEqual([false, true]);
		});
	});
}
