import { clusterEngine } from '../support/cluster-engine.ts';
import { describeEngineContract } from './engine-contract.ts';

/** On Redis Cluster hardly any changes are kept, so that copies are loaded from the store again and again. */

describeEngineContract(clusterEngine('redis'), { seeds: [11], operations: 400, every: 100 });
describeEngineContract(clusterEngine('redis-cluster', { keptChanges: 1 }), {
	seeds: [12],
	operations: 400,
	every: 100,
});
