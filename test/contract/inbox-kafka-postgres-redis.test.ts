import { clusterEngine } from '../support/cluster-engine.ts';
import { describeInboxContract } from './inbox-contract.ts';

describeInboxContract(clusterEngine('redis-cluster'), [30]);
