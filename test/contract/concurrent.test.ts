import { describeConcurrentDevices } from './concurrent-contract.ts';
import { embedded } from './engines.ts';

describeConcurrentDevices(embedded, { seeds: [1, 2, 3], operationsPerDevice: 850 });
