import { afterEach, describe, expect, test } from 'bun:test';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisPresence } from '../../src/engine/cluster/redis/presence.ts';
import { MemoryPresence } from '../../src/engine/embedded/memory-presence.ts';
import { eventually } from '../support/eventually.ts';
import { Random } from '../support/oracle/random.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

/** So long that no timer fires during a test. */
const NEVER_MS = 3_600_000;

let gateways = 0;

for (const layout of LAYOUTS) {
	describe(`presence on ${layout}`, () => {
		const open = async (place = redisPlace(layout), times = { lifetimeMs: NEVER_MS, aliveMs: NEVER_MS }) => {
			const { commands, close } = await connectBoth(place);
			gateways += 1;
			const gateway = `g${gateways}`;
			const changed: string[] = [];
			const keys = new Keys(place.prefix);
			const hooks = {
				onChanged: async (user: string) => {
					changed.push(user);
				},
				onError: console.error,
			};
			const presence = new RedisPresence(commands, keys, gateway, hooks, times);
			closing.push(() => {
				presence.close();
				close();
			});
			/** As if the process had been gone for longer than a heartbeat lasts. */
			const die = async (): Promise<void> => {
				presence.close();
				await commands.del(keys.gatewayAlive(gateway));
			};
			return { presence, place, commands, keys, gateway, changed, die };
		};

		test('a user’s away setting is forgotten a month after the last connection', async () => {
			const { presence, commands, keys } = await open();
			const key = keys.away('U01');
			await presence.setAway('U01', true);
			expect(await commands.ttl(key)).toBeGreaterThan(29 * 24 * 3600);
			await commands.expire(key, 60);
			await presence.connected('U01', 'c1');
			expect(await commands.ttl(key)).toBeGreaterThan(29 * 24 * 3600);
			expect(await presence.isActive('U01')).toBe(false);
		});

		test('answers like the embedded engine in every case', async () => {
			const { presence, place } = await open();
			const other = (await open(place)).presence;
			const memory = new MemoryPresence();
			const random = new Random(7);
			const users = ['U01', 'U02', 'U03'];
			for (let step = 0; step < 300; step += 1) {
				const user = random.pick(users) as string;
				const connection = `${user}-${random.pick([1, 2, 3])}`;
				const on = random.chance(0.5) ? presence : other;
				const kind = random.weighted({ connected: 3, disconnected: 3, away: 2 });
				const away = random.chance(0.5);
				const result = kind === 'away' ? await on.setAway(user, away) : await on[kind](user, connection);
				const expected =
					kind === 'away' ? await memory.setAway(user, away) : await memory[kind](user, connection);
				expect(result).toBe(expected);
				expect(await other.activeAmong(users)).toEqual(await memory.activeAmong(users));
			}
		});

		test('connections of a dead process expire, even if no process ends them', async () => {
			const times = { lifetimeMs: 300, aliveMs: NEVER_MS };
			const { presence: dying, place } = await open(undefined, times);
			const { presence: living } = await open(place, times);
			await dying.connected('U01', 'a');
			await living.connected('U02', 'b');
			dying.close();
			expect(await living.isActive('U01')).toBe(true);
			await eventually(async () => expect(await living.isActive('U01')).toBe(false));
			expect(await living.isActive('U02')).toBe(true);
		});

		test('another gateway ends the connections of a dead gateway, and none of a living one', async () => {
			const dying = await open();
			const living = await open(dying.place);
			const third = await open(dying.place);
			for (let index = 0; index < 250; index += 1) await dying.presence.connected(`U${index}`, `a-${index}`);
			await third.presence.connected('U1', 'c-1');
			await living.presence.sweep();
			expect(living.changed).toEqual([]);
			await dying.die();
			await Promise.all([living.presence.sweep(), third.presence.sweep()]);
			// One of the two gateways ends the connection of each user.
			const expected = Array.from({ length: 250 }, (_, index) => `U${index}`);
			expect([...living.changed, ...third.changed].sort()).toEqual(expected.sort());
			expect(await living.presence.activeAmong(expected)).toEqual(new Set(['U1']));
			// Nothing of the dead gateway is left.
			await living.presence.sweep();
			expect(living.changed.length + third.changed.length).toBe(250);
			expect(await living.commands.smembers(living.keys.gateways())).not.toContain(dying.gateway);
			expect(await living.commands.exists(living.keys.gatewayConnections(dying.gateway))).toBe(0);
		});

		test('the timers of a living gateway end the connections of a dead one, and keep its own', async () => {
			const times = { lifetimeMs: 600, aliveMs: 600 };
			const dying = await open(undefined, times);
			const living = await open(dying.place, times);
			await dying.presence.connected('U1', 'a-1');
			await living.presence.connected('U2', 'b-1');
			dying.presence.close();
			await eventually(async () => expect(living.changed).toContain('U1'));
			expect(await living.presence.activeAmong(['U1', 'U2'])).toEqual(new Set(['U2']));
		});

		test('if a gateway fails to end the connections of a dead gateway, another one does it later', async () => {
			const dying = await open();
			const living = await open(dying.place);
			for (const user of ['U1', 'U2']) await dying.presence.connected(user, `a-${user}`);
			await dying.die();
			const failing = await open(dying.place);
			await failing.commands.set(failing.keys.connections('U2'), 'of a kind that the script cannot change');
			await expect(failing.presence.sweep()).rejects.toThrow('WRONGTYPE');
			await failing.commands.del(failing.keys.connections('U2'));
			// Until the claim on the dead gateway expires, no other gateway tries. Here it is deleted instead.
			await living.presence.sweep();
			expect(living.changed).toEqual([]);
			await living.commands.del(living.keys.gatewayClaim(dying.gateway));
			await living.presence.sweep();
			expect(living.changed).toContain('U2');
		});

		test('if a connection has already expired, its user’s presence is updated as well', async () => {
			const dying = await open(undefined, { lifetimeMs: 20, aliveMs: NEVER_MS });
			const living = await open(dying.place);
			await dying.presence.connected('U1', 'a-1');
			await dying.die();
			await Bun.sleep(60);
			await living.presence.sweep();
			expect(living.changed).toEqual(['U1']);
		});

		test('an emptied Redis gets all connections again', async () => {
			const { presence, commands, keys, gateway, changed, place } = await open();
			await presence.connected('U1', 'a-1');
			await presence.connected('U1', 'a-2');
			await commands.del(keys.connections('U1'));
			for (const key of [keys.gateways(), keys.gatewayAlive(gateway), keys.gatewayConnections(gateway)])
				await commands.del(key);
			expect(await presence.isActive('U1')).toBe(false);
			await presence.beat();
			expect(await presence.isActive('U1')).toBe(true);
			expect(changed).toEqual(['U1']);
			expect(await commands.hgetall(keys.gatewayConnections(gateway))).toEqual({ 'a-1': 'U1', 'a-2': 'U1' });
			const living = await open(place);
			presence.close();
			await commands.del(keys.gatewayAlive(gateway));
			await living.presence.sweep();
			expect(living.changed).toEqual(['U1', 'U1']);
		});

		test('a gateway that was considered dead returns with its next heartbeat', async () => {
			const slow = await open();
			const living = await open(slow.place);
			await slow.presence.connected('U1', 'a-1');
			await slow.commands.del(slow.keys.gatewayAlive(slow.gateway));
			await living.presence.sweep();
			expect(await living.presence.isActive('U1')).toBe(false);
			await slow.presence.beat();
			expect(await living.presence.isActive('U1')).toBe(true);
			expect(slow.changed).toEqual(['U1']);
		});

		test('a connection whose end did not reach Redis is ended by the next heartbeat', async () => {
			const { presence, commands, keys, gateway, changed } = await open();
			await presence.connected('U1', 'a-1');
			await presence.disconnected('U1', 'a-1');
			// As if the end had not reached Redis.
			await commands.hset(keys.gatewayConnections(gateway), 'a-1', 'U1');
			await presence.beat();
			expect(changed).toEqual(['U1']);
			expect(await commands.exists(keys.gatewayConnections(gateway))).toBe(0);
		});

		test('a connection that ends while it begins is removed', async () => {
			const { presence } = await open();
			const ends = [presence.connected('U1', 'a-1'), presence.disconnected('U1', 'a-1')];
			await Promise.all(ends);
			expect(await presence.isActive('U1')).toBe(false);
		});
	});
}
