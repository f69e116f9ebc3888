import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** The parts of a message besides its text, on two gateways and two workers. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/reactions.test.ts');
await import('../scenario/search.test.ts');
await import('../scenario/pins.test.ts');
await import('../scenario/scheduled.test.ts');
await import('../scenario/files.test.ts');
await import('../scenario/general.test.ts');
