import { clusterEngine } from '../support/cluster-engine.ts';
import { describeEngineContract } from './engine-contract.ts';

/** The second engine keeps hardly any changes in Redis, so copies are loaded from the store all the time. */

describeEngineContract(clusterEngine('redis'), { seeds: [11], operations: 400, every: 100 });
describeEngineContract(clusterEngine('redis-cluster', { keptChanges: 1 }), {
	seeds: [12],
	operations: 400,
	every: 100,
});
