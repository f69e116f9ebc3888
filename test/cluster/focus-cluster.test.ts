import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** Focus works across gateways: one delivers the message, another answers the request for counts. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/focus.test.ts');
await import('../scenario/focus-confirmation.test.ts');
