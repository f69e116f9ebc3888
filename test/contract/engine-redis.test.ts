import { LAYOUTS } from '../support/redis.ts';
import { redisEngine } from '../support/redis-engine.ts';
import { describeEngineContract } from './engine-contract.ts';

/** One of them keeps next to nothing of a timeline, so that most of what is counted lies further back. */
const KEEPING = {
	redis: {},
	'redis-cluster': { entries: 3, trimEveryMicros: 0 },
};

for (const layout of LAYOUTS)
	describeEngineContract(redisEngine(layout, KEEPING[layout]), {
		seeds: [11, 12],
		operations: 1_000,
		every: 100,
	});
