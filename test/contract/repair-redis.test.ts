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
			const takenAgain = (key: string) => commands.hset(key, 'base', performance.now());
			return {
				engine,
				damage: {
					loseMessage: async (conversation, ts) => {
						await commands.zremrangebyscore(keys.timeline(conversation), ts, ts);
						await takenAgain(keys.meta(conversation));
					},
					loseReply: async (conversation, threadTs, ts) => {
						await commands.zremrangebyscore(keys.thread(conversation, threadTs), ts, ts);
						await takenAgain(keys.meta(conversation));
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
