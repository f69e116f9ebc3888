import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** The fuzzers on gateways and workers: PostgreSQL, Redis and Kafka get what SQLite gets. */

setDefaultTimeout(300_000);
scenariosOnCluster();

await import('../abuse/fuzz.test.ts');
