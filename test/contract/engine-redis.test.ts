import { LAYOUTS } from '../support/redis.ts';
import { redisEngine } from '../support/redis-engine.ts';
import { describeEngineContract } from './engine-contract.ts';

for (const layout of LAYOUTS)
	describeEngineContract(redisEngine(layout), { seeds: [11, 12], operations: 1_500, every: 100 });
