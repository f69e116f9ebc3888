import { clusterEngine } from '../support/cluster-engine.ts';
import { describeConcurrentDevices } from './concurrent-contract.ts';

describeConcurrentDevices(clusterEngine('redis'), {
	seeds: [1],
	operationsPerDevice: 60,
	exactCursors: false,
});
describeConcurrentDevices(clusterEngine('redis-cluster'), {
	seeds: [2],
	operationsPerDevice: 60,
	exactCursors: false,
});
