import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** Focus is confirmed by the device, also where the gateway that delivers is not the one that is asked for counts. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/focus.test.ts');
await import('../scenario/focus-lease.test.ts');
