import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** The fuzzers against gateways and workers: PostgreSQL, Redis and Kafka get the same input as SQLite. */

setDefaultTimeout(300_000);
scenariosOnCluster();

await import('../abuse/fuzz.test.ts');
