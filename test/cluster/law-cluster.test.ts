import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/**
 * A stale snapshot plus the events since is a fresh snapshot, also where they come from several gateways; and what one of them
 * acknowledged the next one knows.
 */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/law.test.ts');
await import('../scenario/readers.test.ts');
