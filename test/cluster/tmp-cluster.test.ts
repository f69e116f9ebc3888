import { setDefaultTimeout } from 'bun:test';
import { scenariosOnCluster } from '/work/main/test/support/cluster-server.ts';

setDefaultTimeout(300_000);
scenariosOnCluster();
for (const name of process.env.SCENARIOS!.split(','))
	await import(`/work/main/test/scenario/${name}.test.ts`);
