import { openKafkaLogs } from '../../../src/engine/cluster/kafka/open.ts';
import { openPostgresStore } from '../../../src/engine/cluster/postgres/open.ts';
import { startWorker } from './worker.ts';

/** A worker in a process of its own, which can be stopped and killed. Prints which partitions it owns and how much it has committed. */

const [options = '{}', url = '', schema = ''] = process.argv.slice(2);
const store = await openPostgresStore({ url, schema, reads: 1, writes: 2 });
const logs = await openKafkaLogs({ ...JSON.parse(options), report: (error) => console.error(String(error)) });
const worker = startWorker(logs.commands, store);
setInterval(() => {
	console.log(
		JSON.stringify({ owned: [...worker.owned], committed: worker.spans.length, fenced: worker.fenced }),
	);
}, 50);
