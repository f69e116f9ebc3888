import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '../support/cluster-server.ts';

/** Slack's official clients against 2 gateways and 2 workers: the same tests as on one machine. */

// Starting a cluster is part of the first test's preparation.
setDefaultTimeout(300_000);
scenariosOnCluster();
await import('../scenario/slack-web-client.test.ts');
await import('../scenario/slack-rtm-client.test.ts');
await import('../scenario/slack-rtm-send.test.ts');
await import('../scenario/slack-shapes.test.ts');
await import('../sdks/slack-go.test.ts');
await import('../sdks/slack-java.test.ts');
