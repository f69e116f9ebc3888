import { embedded } from './engines.ts';
import { describeInboxContract } from './inbox-contract.ts';

describeInboxContract(embedded, [30, 600]);
