import { clusterEngine } from '../support/cluster-engine.ts';
import { describeEngineContract } from './engine-contract.ts';

/** On Redis Cluster the timelines are kept very short, so that most counted entries are in the store. */

describeEngineContract(clusterEngine('redis'), { seeds: [11], operations: 400, every: 100 });
describeEngineContract(clusterEngine('redis-cluster', { entries: 3, trimEveryMicros: 0 }), {
	seeds: [12],
	operations: 400,
	every: 100,
});
