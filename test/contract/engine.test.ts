import { describeEngineContract, describeFaults } from './engine-contract.ts';
import { embedded } from './engines.ts';

describeEngineContract(embedded, { seeds: [11, 12], operations: 6_000, every: 250 });
describeFaults();
