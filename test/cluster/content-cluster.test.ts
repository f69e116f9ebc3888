import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** Reactions, search, pins, scheduled messages, files and the general channel, on a cluster. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/reactions.test.ts');
await import('../scenario/search.test.ts');
await import('../scenario/pins.test.ts');
await import('../scenario/scheduled.test.ts');
await import('../scenario/files.test.ts');
await import('../scenario/general.test.ts');
