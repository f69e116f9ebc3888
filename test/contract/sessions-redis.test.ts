import { afterEach, describe, expect, test } from 'bun:test';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisSessions } from '../../src/engine/cluster/redis/sessions.ts';
import { MemorySessions } from '../../src/engine/embedded/memory-sessions.ts';
import { Random } from '../support/oracle/random.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

for (const layout of LAYOUTS) {
	describe(`sessions on ${layout}`, () => {
		const open = async (lifetimeMs?: number, place = redisPlace(layout)) => {
			const { commands, close } = await connectBoth(place);
			const sessions = new RedisSessions(commands, new Keys(place.prefix), console.error, lifetimeMs);
			closing.push(() => {
				sessions.close();
				close();
			});
			return { sessions, place };
		};

		test('answers as the embedded engine does, whatever comes', async () => {
			const { sessions, place } = await open();
			const other = (await open(undefined, place)).sessions;
			const memory = new MemorySessions();
			const random = new Random(7);
			const users = ['U01', 'U02', 'U03'];
			for (let step = 0; step < 300; step += 1) {
				const user = random.pick(users) as string;
				const connection = `${user}-${random.pick([1, 2, 3])}`;
				const on = random.chance(0.5) ? sessions : other;
				const kind = random.weighted({ connected: 3, disconnected: 3, away: 2 });
				const away = random.chance(0.5);
				const told = kind === 'away' ? await on.setAway(user, away) : await on[kind](user, connection);
				const expected =
					kind === 'away' ? await memory.setAway(user, away) : await memory[kind](user, connection);
				expect(told).toBe(expected);
				expect(await other.activeAmong(users)).toEqual(await memory.activeAmong(users));
			}
		});

		test('connections of a process that died expire; a heartbeat keeps others', async () => {
			const { sessions: dying, place } = await open(300);
			const { sessions: living } = await open(300, place);
			await dying.connected('U01', 'a');
			await living.connected('U02', 'b');
			dying.close();
			expect(await living.isActive('U01')).toBe(true);
			await Bun.sleep(450);
			expect(await living.isActive('U01')).toBe(false);
			expect(await living.isActive('U02')).toBe(true);
		});
	});
}
