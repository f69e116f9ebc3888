import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/**
 * A stale snapshot plus the events since equals a fresh snapshot, also if they come from several gateways; and every
 * gateway knows the changes that another has acknowledged.
 */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/law.test.ts');
await import('../scenario/readers.test.ts');
