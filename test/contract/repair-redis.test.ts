import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packMembership, unpackMembership } from '../../src/engine/cluster/redis/read-state/packing.ts';
import { membershipField } from '../../src/engine/cluster/redis/read-state/user-state.ts';
import { LAYOUTS } from '../support/redis.ts';
import { openRedisEngine, redisEngine } from '../support/redis-engine.ts';
import { describeConcurrentDevices } from './concurrent-contract.ts';
import { describeRepair } from './repair-contract.ts';

/** What is in Redis is damaged. */
for (const layout of LAYOUTS) {
	describeRepair({
		name: layout,
		open: async () => {
			const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-repair-'));
			const engine = await openRedisEngine(layout, dataDir);
			const { commands, keys } = engine.redis;
			// Damage that no process has a copy of without.
			const takenAgain = async (key: string): Promise<number> => {
				const base = Date.now();
				await commands.hset(key, 'base', base);
				return base;
			};
			return {
				engine,
				damage: {
					loseMessage: async (conversation, ts) => {
						await commands.zremrangebyscore(keys.timeline(conversation), ts, ts);
						await takenAgain(keys.meta(conversation));
					},
					loseReply: async (conversation, threadTs, ts) => {
						const thread = keys.thread(conversation, threadTs);
						const base = await takenAgain(keys.meta(conversation));
						await commands.zremrangebyscore(thread, ts, ts);
						// It still counts as loaded.
						await commands.zremrangebyscore(thread, 0, 0);
						await commands.zadd(thread, 0, base);
					},
					moveCursor: async (user, conversation, cursor) => {
						const field = membershipField(conversation);
						const packed = (await commands.hget(keys.user(user), field)) ?? '';
						const moved = packMembership({ ...unpackMembership(packed), cursor });
						await commands.hset(keys.user(user), field, moved);
						await takenAgain(keys.user(user));
					},
				},
				remove: () => rm(dataDir, { recursive: true }),
			};
		},
	});

	describeConcurrentDevices(redisEngine(layout), { seeds: [6], operationsPerDevice: 60, repairing: true });
}
