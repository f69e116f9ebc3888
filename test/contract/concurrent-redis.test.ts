import { LAYOUTS } from '../support/redis.ts';
import { redisEngine } from '../support/redis-engine.ts';
import { describeConcurrentDevices } from './concurrent-contract.ts';

for (const layout of LAYOUTS)
	describeConcurrentDevices(redisEngine(layout), { seeds: [1, 2], operationsPerDevice: 120 });
