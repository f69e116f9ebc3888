import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** The device confirms messages in focus, even if another gateway than the delivering one answers the counts. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/focus.test.ts');
await import('../scenario/focus-lease.test.ts');
