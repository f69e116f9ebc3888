import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** Answers are also bounded on a cluster, where pages come from PostgreSQL. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/large-answers.test.ts');
