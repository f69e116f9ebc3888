import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** At any gateway, lists show only shared conversations, and a direct message has one id. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/privacy.test.ts');
