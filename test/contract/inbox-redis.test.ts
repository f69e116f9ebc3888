import { LAYOUTS } from '../support/redis.ts';
import { redisEngine } from '../support/redis-engine.ts';
import { describeInboxContract } from './inbox-contract.ts';

for (const layout of LAYOUTS) describeInboxContract(redisEngine(layout), [30]);
