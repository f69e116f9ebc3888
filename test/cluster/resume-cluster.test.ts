import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** A client that reconnects misses nothing, at any gateway; events that arrive twice are harmless. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/resume.test.ts');
