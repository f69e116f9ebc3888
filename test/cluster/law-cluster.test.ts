import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** A stale snapshot plus the events since is a fresh snapshot, also where they come from several gateways. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(120_000);
scenariosOnCluster();
await import('../scenario/law.test.ts');
