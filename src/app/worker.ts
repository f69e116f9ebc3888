import type { Logger } from 'pino';
import { SessionLock } from '../engine/cluster/postgres/session-lock.ts';
import { Recovery, type RecoveryParts } from '../engine/cluster/recovery.ts';
import { causeOf } from '../engine/cluster/redis/failure-cause.ts';
import { presenceView } from '../engine/cluster/redis/presence.ts';
import { RedisPublicationRecord } from '../engine/cluster/redis/publication-record.ts';
import { MarkPersistence } from '../worker/mark-persistence.ts';
import { PartitionedWorker } from '../worker/partitioned-worker.ts';
import { RollbackWatch } from '../worker/rollback-watch.ts';
import { clusterAddresses } from './cluster-addresses.ts';
import type { Cluster } from './cluster-engine.ts';
import type { Config } from './config.ts';
import type { ServerOperations } from './operations.ts';
import { startPush } from './push.ts';
import { nowMs, steadyMs } from './runtime.ts';
import { configuredVapidKey } from './vapid-key.ts';

/** The composition of a worker of a cluster: it sequences commands, persists effects and sends notifications. */

export interface RunningWorker {
	/** Persists decided effects and releases the partitions. */
	stop(): Promise<void>;
}

const EVICT_EVERY_MS = 60_000;
const STOP_TIMEOUT_MS = 8_000;

export async function startWorker(
	config: Config,
	cluster: Cluster,
	operations: ServerOperations,
	log: Logger,
	lock: RecoveryParts['lock'] = new SessionLock({
		...clusterAddresses(config).postgres,
		schema: config.installation,
	}),
): Promise<RunningWorker> {
	const { postgres, logs, views, bus, epochs } = cluster;
	const report = (error: unknown, about: string): void => operations.failed(about, error);
	const publications = new RedisPublicationRecord(cluster.commands, cluster.keys, epochs, cluster.nowMicros);
	const worker = new PartitionedWorker({
		log: logs.commands,
		cursorLedger: cluster.marks,
		ledger: postgres,
		source: postgres.source,
		history: postgres.history,
		views,
		bus,
		publications,
		nowMs,
		steadyMs,
		sleep: (ms) => Bun.sleep(ms),
		report,
	});
	const recovery = recoveryOf(cluster, worker, publications, lock, operations, log);
	const marks = new MarkPersistence(logs.marks, postgres);
	const rollbacks = new RollbackWatch({ ledger: postgres, watched: [worker, marks], report });
	// The worker starts halted: it decides nothing until recovery has checked the read state and holds the lock in shared mode.
	worker.start();
	rollbacks.start();
	exportMetrics(worker, operations);
	cluster.fitness.start();
	await recovery.start();
	const push = await startPush({
		config,
		vapidKey: configuredVapidKey(config),
		store: postgres,
		readState: cluster.readState,
		presence: presenceView(cluster.commands, cluster.keys),
		operations,
		log,
	});
	const idleMs = config.idleMinutes * 60_000;
	const eviction = setInterval(() => worker.evict(steadyMs() - idleMs), EVICT_EVERY_MS);
	return {
		stop: async () => {
			clearInterval(eviction);
			rollbacks.stop();
			await push?.stop();
			// Release the lock last: the worker that gets it exclusively relies on everything being persisted.
			await worker.stop(STOP_TIMEOUT_MS);
			await recovery.stop();
		},
	};
}

const recoveryOf = (
	{ epochs, logs, postgres, nowMicros }: Cluster,
	worker: PartitionedWorker,
	publications: RedisPublicationRecord,
	lock: RecoveryParts['lock'],
	operations: ServerOperations,
	log: Logger,
): Recovery =>
	new Recovery({
		epochs,
		lock,
		worker,
		endOfMarks: () => logs.endOfMarks(),
		nextOffsets: () => postgres.nextOffsets(),
		onReloading: (offsets) => publications.reloading(offsets),
		nowMicros,
		log: (what) => log.info(what),
		onTrouble: (error) =>
			operations.degraded(
				'read state',
				new Error(`this worker cannot check whether Redis is complete: ${causeOf(error).message}`),
			),
		onLost: () =>
			operations.degraded(
				'read state',
				new Error('a Redis node lost data; rebuilding its read state from PostgreSQL'),
			),
		onComplete: () => operations.recovered('read state'),
	});

function exportMetrics(worker: PartitionedWorker, operations: ServerOperations): void {
	operations.gauge(
		'partitions',
		'Partitions of the command log that this worker owns',
		() => worker.partitions,
	);
	operations.counter(
		'partition_assignments_total',
		'Partitions assigned to this worker, or restarted by it',
		() => worker.assignments,
	);
	operations.gauge(
		'persistence_lag_seconds',
		'Age of the oldest log record that the worker has taken and PostgreSQL does not have yet',
		() => worker.unwrittenMs() / 1000,
	);
	operations.watchWorker(worker);
}
